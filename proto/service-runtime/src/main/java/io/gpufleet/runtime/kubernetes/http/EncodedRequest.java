package io.gpufleet.runtime.kubernetes.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request as HTTP/1.1 has it on the wire.
 *
 * @param bytes head and body
 * @param timeout how long its answer is waited for, zero for ever
 */
record EncodedRequest(HttpConnections.Server server, byte[] bytes, Duration timeout) {
    private static final int HTTPS = 443;
    private static final int HTTP = 80;
    /** Ours to write. */
    private static final Set<String> OWN = Set.of("host", "content-length", "content-type", "connection", "expect");

    /** Empty where it has no body, one that is a stream, or something that only the client of the JDK deals with. */
    static Optional<EncodedRequest> of(StandardHttpRequest request) {
        byte[] body = body(request);
        URI uri = request.uri();
        boolean tls = "https".equals(uri.getScheme());
        if (body == null || uri.getHost() == null || request.isExpectContinue() || request.isForStreaming()) {
            return Optional.empty();
        }
        int port = uri.getPort() >= 0 ? uri.getPort() : tls ? HTTPS : HTTP;
        String host = uri.getHost().startsWith("[")
                ? uri.getHost().substring(1, uri.getHost().length() - 1)
                : uri.getHost();
        return head(request, body.length).map(head -> {
            var all = new ByteArrayOutputStream(head.length() + body.length);
            all.writeBytes(head.getBytes(ISO_8859_1));
            all.writeBytes(body);
            Duration timeout = request.getTimeout() == null ? Duration.ZERO : request.getTimeout();
            return new EncodedRequest(new HttpConnections.Server(host, port, tls), all.toByteArray(), timeout);
        });
    }

    private static byte @Nullable [] body(StandardHttpRequest request) {
        return switch (request.body()) {
            case StandardHttpRequest.StringBodyContent text -> text.getContent().getBytes(UTF_8);
            case StandardHttpRequest.ByteArrayBodyContent bytes -> bytes.getContent();
            case null, default -> null;
        };
    }

    /** Empty where a value has a character that would end its line. */
    private static Optional<String> head(StandardHttpRequest request, int length) {
        URI uri = request.uri();
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        var head = new StringBuilder(512).append(request.method()).append(' ').append(path);
        if (uri.getRawQuery() != null) {
            head.append('?').append(uri.getRawQuery());
        }
        head.append(" HTTP/1.1\r\nHost: ").append(uri.getHost());
        if (uri.getPort() >= 0) {
            head.append(':').append(uri.getPort());
        }
        head.append("\r\nContent-Length: ").append(length).append("\r\n");
        if (request.getContentType() != null && !header(head, "Content-Type", request.getContentType())) {
            return Optional.empty();
        }
        for (Map.Entry<String, List<String>> header : request.headers().entrySet()) {
            if (OWN.contains(header.getKey().toLowerCase(Locale.ROOT))) {
                continue;
            }
            for (String value : header.getValue()) {
                if (!header(head, header.getKey(), value)) {
                    return Optional.empty();
                }
            }
        }
        return Optional.of(head.append("\r\n").toString());
    }

    private static boolean header(StringBuilder head, String name, String value) {
        boolean writable = value.chars().allMatch(character -> character >= ' ' && character < 0x7f)
                && name.chars().allMatch(character -> character > ' ' && character < 0x7f && character != ':');
        head.append(name).append(": ").append(value).append("\r\n");
        return writable;
    }
}
