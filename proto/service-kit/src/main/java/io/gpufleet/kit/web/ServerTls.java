package io.gpufleet.kit.web;

import io.gpufleet.kit.tls.NewestCertificate;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.KeyCertOptions;

/** Whether the HTTP and gRPC servers of a program speak TLS, and what they show then. */
public sealed interface ServerTls {
    /** Clear text, for a loopback address or behind a proxy. */
    record Off() implements ServerTls {
        @Override
        public HttpServerOptions http() {
            return new HttpServerOptions().setHttp2ClearTextEnabled(false);
        }

        @Override
        public HttpServerOptions grpc() {
            return new HttpServerOptions();
        }
    }

    /** TLS by the newest of the certificates. */
    record On(NewestCertificate certificate) implements ServerTls {
        @Override
        public HttpServerOptions http() {
            return new HttpServerOptions().setSsl(true).setKeyCertOptions(KeyCertOptions.wrap(certificate));
        }

        @Override
        public HttpServerOptions grpc() {
            return http().setUseAlpn(true);
        }
    }

    /**
     * Options of a server of HTTP/1.1.
     *
     * <p>Without TLS no HTTP/2: JDK clients offer it with their first request, and Vert.x 5.0.7 then sends the first 16 KiB of
     * the response and nothing more.
     */
    HttpServerOptions http();

    /** Options of a server of gRPC, whose clients begin with HTTP/2. */
    HttpServerOptions grpc();
}
