package io.gpufleet.compose.kubelet;

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

/** A gRPC server on a unix domain socket; the JDK's own sockets, so that no native library is needed. */
final class UnixServer implements AutoCloseable {
    private final HttpServer server;
    private final Path socket;

    private UnixServer(HttpServer server, Path socket) {
        this.server = server;
        this.socket = socket;
    }

    /** Serves one service; a socket that lies there is replaced. Blocks, so it is not for event loops. */
    static UnixServer open(Vertx vertx, Path socket, Service service) throws IOException {
        Files.createDirectories(socket.toAbsolutePath().getParent());
        Files.deleteIfExists(socket);
        GrpcServer grpc = GrpcServer.server(vertx).addService(service);
        return new UnixServer(
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
