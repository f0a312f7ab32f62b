package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;

/**
 * A gRPC server on a unix domain socket, with the sockets of the JDK, which need no native library. As strict as grpc-go from
 * 1.85 on, with which kubelets come: a call with neither {@code :authority} nor {@code host} is refused.
 */
final class UnixSocketServer implements AutoCloseable {
    private final HttpServer server;
    private final Path socket;

    private UnixSocketServer(HttpServer server, Path socket) {
        this.server = server;
        this.socket = socket;
    }

    /** Serves one service; an existing socket is replaced. Blocks; not for event loops. */
    static UnixSocketServer open(Vertx vertx, Path socket, Service service) throws IOException {
        Files.createDirectories(socket.toAbsolutePath().getParent());
        Files.deleteIfExists(socket);
        GrpcServer grpc = UnixSocketGrpc.server(vertx).addService(service);
        return new UnixSocketServer(
                await(vertx.createHttpServer()
                        .requestHandler(request -> handle(request, grpc))
                        .listen(SocketAddress.domainSocketAddress(socket.toString()))),
                socket);
    }

    private static void handle(HttpServerRequest request, GrpcServer grpc) {
        if (request.authority() == null && request.getHeader(HttpHeaders.HOST) == null) {
            request.response()
                    .setStatusCode(HttpResponseStatus.BAD_REQUEST.code())
                    .putHeader(HttpHeaders.CONTENT_TYPE, "application/grpc")
                    .putHeader("grpc-status", GrpcStatus.INTERNAL.toString())
                    .putHeader("grpc-message", "no host or :authority header present")
                    .end();
        } else {
            grpc.handle(request);
        }
    }

    /** Ends every connection and removes the socket. */
    @Override
    public void close() throws IOException {
        await(server.close());
        Files.deleteIfExists(socket);
    }

    /** The result of a future, on a thread that may block. */
    static <T> T await(Future<T> future) throws IOException {
        try {
            return future.toCompletionStage().toCompletableFuture().get();
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            throw new IOException(String.valueOf(cause.getMessage()), cause);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", interrupted);
        }
    }
}
