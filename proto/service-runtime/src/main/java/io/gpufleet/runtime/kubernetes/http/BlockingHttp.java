package io.gpufleet.runtime.kubernetes.http;

import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * Apache's HTTP client, which sends and reads on the thread that calls it. What fabric8's interceptors do (tokens, retries)
 * and what an API server does not know (redirects, cookies, compression, an upgrade to TLS) is switched off. Thread-safe.
 */
final class BlockingHttp implements AutoCloseable {
    /** More than the threads that write at the same time. */
    private static final int MAX_CONNECTIONS = 256;
    /** Load balancers forget a connection that was idle for some minutes, and some do not say so. */
    private static final Timeout IDLE = Timeout.ofSeconds(30);
    /** The look whether its server has ended a connection waits 1 ms for it. */
    private static final TimeValue UNSEEN = TimeValue.ofSeconds(1);

    private static final int MAX_BODY = 64 * 1024 * 1024;

    private final CloseableHttpClient client;

    /** Opens no connection before the first request. */
    BlockingHttp(@Nullable Duration connectTimeout, @Nullable SSLContext tls) {
        var connection = ConnectionConfig.custom().setIdleTimeout(IDLE).setValidateAfterInactivity(UNSEEN);
        if (connectTimeout != null) {
            connection.setConnectTimeout(Timeout.of(connectTimeout));
        }
        var connections = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnTotal(MAX_CONNECTIONS)
                .setMaxConnPerRoute(MAX_CONNECTIONS)
                .setDefaultConnectionConfig(connection.build());
        if (tls != null) {
            connections.setTlsSocketStrategy(new DefaultClientTlsStrategy(tls));
        }
        this.client = HttpClients.custom()
                .setConnectionManager(connections.build())
                .disableAutomaticRetries()
                .disableRedirectHandling()
                .disableCookieManagement()
                .disableAuthCaching()
                .disableContentCompression()
                .build();
    }

    /** Sends a request with its body and reads the answer; an answer with any status is no failure. */
    HttpAnswer send(StandardHttpRequest request, byte[] body) throws IOException {
        URI uri = request.uri();
        var sent = new HttpUriRequestBase(request.method(), uri);
        request.headers().forEach((name, values) -> values.forEach(value -> sent.addHeader(name, value)));
        String contentType = request.getContentType();
        sent.removeHeaders("Content-Type");
        sent.setEntity(new ByteArrayEntity(body, contentType == null ? null : ContentType.parse(contentType)));
        sent.setConfig(config(request.getTimeout()));
        return client.execute(sent, BlockingHttp::read);
    }

    private static RequestConfig config(@Nullable Duration timeout) {
        var config = RequestConfig.custom()
                .setProtocolUpgradeEnabled(false)
                .setAuthenticationEnabled(false)
                .setConnectionKeepAlive(IDLE);
        if (timeout != null && !timeout.isZero()) {
            config.setResponseTimeout(Timeout.of(timeout)).setConnectionRequestTimeout(Timeout.of(timeout));
        }
        return config.build();
    }

    private static HttpAnswer read(ClassicHttpResponse response) throws IOException {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (Header header : response.getHeaders()) {
            headers.computeIfAbsent(header.getName(), _ -> new ArrayList<>()).add(header.getValue());
        }
        return new HttpAnswer(response.getCode(), headers, body(response));
    }

    private static byte[] body(ClassicHttpResponse response) throws IOException {
        if (response.getEntity() == null) {
            return new byte[0];
        }
        try (InputStream content = response.getEntity().getContent()) {
            byte[] body = content.readNBytes(MAX_BODY + 1);
            if (body.length > MAX_BODY) {
                throw new IOException("an answer of more than " + MAX_BODY + " bytes");
            }
            return body;
        }
    }

    /** Without a farewell of TLS, for which a thread might wait. */
    @Override
    public void close() {
        client.close(CloseMode.IMMEDIATE);
    }
}
