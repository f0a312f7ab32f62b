package io.gpufleet.runtime.kubernetes.http;

import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.StandardHttpClientBuilder;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Makes HTTP clients for the client of Kubernetes: those of the JDK, but for what {@link CallerThreadHttpClient} sends itself. */
public final class CallerThreadHttpClientFactory implements HttpClient.Factory {
    @Override
    public HttpClient.Builder newBuilder() {
        return new Builder(this);
    }

    /** Collects the settings, and hands those of the connection to the client of the JDK. */
    static final class Builder
            extends StandardHttpClientBuilder<CallerThreadHttpClient, CallerThreadHttpClientFactory, Builder> {
        Builder(CallerThreadHttpClientFactory factory) {
            super(factory);
        }

        @Override
        protected Builder newInstance(CallerThreadHttpClientFactory factory) {
            return new Builder(factory);
        }

        @Override
        public CallerThreadHttpClient build() {
            if (client != null) {
                return client.derived(this);
            }
            if (proxyAddress != null) {
                addProxyAuthInterceptor();
            }
            var blocking =
                    proxyAddress == null && tlsServerName == null ? new BlockingHttp(connectTimeout, sslContext) : null;
            return new CallerThreadHttpClient(this, jdkClient(), blocking, new AtomicBoolean());
        }

        /** Interceptors are ours to call. */
        private HttpClient jdkClient() {
            HttpClient.Builder jdk = new JdkHttpClientFactory().newBuilder();
            if (connectTimeout != null) {
                jdk.connectTimeout(connectTimeout.toMillis(), TimeUnit.MILLISECONDS);
            }
            if (sslContext != null) {
                jdk.sslContext(keyManagers, trustManagers);
            }
            if (proxyAddress != null) {
                jdk.proxyAddress(proxyAddress);
            }
            jdk.proxyType(proxyType);
            if (tlsVersions != null) {
                jdk.tlsVersions(tlsVersions);
            }
            if (tlsServerName != null) {
                jdk.tlsServerName(tlsServerName);
            }
            if (preferHttp11) {
                jdk.preferHttp11();
            }
            if (followRedirects) {
                jdk.followAllRedirects();
            }
            return jdk.build();
        }
    }
}
