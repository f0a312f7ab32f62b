package io.gpufleet.testbed.fakekubelet;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.Service;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;

/** A gRPC server on a unix domain socket, with the sockets of the JDK, which need no native library. */
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
        GrpcServer grpc = GrpcServer.server(vertx).addService(service);
        return new UnixSocketServer(
                await(vertx.createHttpServer()
                        .requestHandler(grpc)
                        .listen(SocketAddress.domainSocketAddress(socket.toString()))),
                socket);
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
