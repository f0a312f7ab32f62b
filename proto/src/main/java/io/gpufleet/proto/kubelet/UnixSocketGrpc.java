package io.gpufleet.proto.kubelet;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.client.impl.GrpcClientImpl;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerOptions;
import java.util.concurrent.TimeUnit;

/** gRPC clients and servers for Unix sockets, with the limits and headers of the kubelet. */
public final class UnixSocketGrpc {
    /** The {@code :authority} that Go's clients send, and the kubelet to a device plugin. */
    public static final String AUTHORITY = "localhost";

    /**
     * Limit of a message in either direction, that of the kubelet's podresources. Vert.x has 256 KiB, and the ids of 8 GPUs with
     * 1,000 replicas each need 376 KB.
     */
    public static final long MAX_MESSAGE_SIZE = 16L * 1024 * 1024;

    /** The kubelet's time for a connection to a plugin. */
    private static final int DIAL_TIMEOUT_MILLIS = 10_000;

    /** A port that an authority does not name, since it is that of the scheme. */
    private static final int PORT_OF_THE_SCHEME = 80;

    private UnixSocketGrpc() {}

    /** Creates a client that sends an authority; grpc-go from 1.85 on refuses calls without one. */
    public static GrpcClient client(Vertx vertx, String authority) {
        HttpClient http = vertx.createHttpClient(new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false)
                .setConnectTimeout(DIAL_TIMEOUT_MILLIS));
        return new AuthoritySendingClient(vertx, new AuthoritySendingTransport(http, authority));
    }

    /** Creates a server. */
    public static GrpcServer server(Vertx vertx) {
        return GrpcServer.server(vertx, new GrpcServerOptions().setMaxMessageSize(MAX_MESSAGE_SIZE));
    }

    /** A client with a transport and options of our own: the public factory of Vert.x 5.0.7 takes one or the other. */
    private static final class AuthoritySendingClient extends GrpcClientImpl {
        private AuthoritySendingClient(Vertx vertx, HttpClient transport) {
            super(vertx, new GrpcClientOptions().setMaxMessageSize(MAX_MESSAGE_SIZE), transport, true);
        }
    }

    /** Names the host of each request: Vert.x 5.0.7 derives none from a socket's path, and sends neither authority nor host. */
    private record AuthoritySendingTransport(HttpClient http, String authority) implements HttpClient {
        @Override
        public Future<HttpClientRequest> request(RequestOptions options) {
            return http.request(new RequestOptions(options).setHost(authority).setPort(PORT_OF_THE_SCHEME));
        }

        @Override
        public Future<Void> shutdown(long timeout, TimeUnit unit) {
            return http.shutdown(timeout, unit);
        }
    }
}
