package io.gpufleet.inventory.grpc;

import io.gpufleet.kit.config.ConfigurationException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.grpc.health.HealthService;
import io.vertx.grpc.reflection.ReflectionService;
import io.vertx.grpc.server.GrpcServer;
import java.net.BindException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/** Serves gRPC with health and reflection, or says plainly that the port is taken. */
public final class GrpcDoor implements AutoCloseable {
    private final HttpServer server;

    private GrpcDoor(HttpServer server) {
        this.server = server;
    }

    /** Serves the inventory. Port 0 takes a free one. Blocks the caller, so it is not for event loops. */
    public static GrpcDoor open(Vertx vertx, InventoryGrpc inventory, BooleanSupplier ready, String host, int port) {
        var health = HealthService.create(vertx)
                .register("", () -> Future.succeededFuture(ready.getAsBoolean()))
                .register(InventoryGrpc.SERVICE_NAME, () -> Future.succeededFuture(ready.getAsBoolean()));
        GrpcServer grpc = GrpcServer.server(vertx)
                .addService(inventory)
                .addService(health)
                .addService(ReflectionService.v1());
        try {
            return new GrpcDoor(vertx.createHttpServer()
                    .requestHandler(grpc)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_GRPC_PORT=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new IllegalStateException("gRPC server on " + host + ":" + port + " did not start", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting the gRPC server", interrupted);
        }
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    @Override
    public void close() throws Exception {
        server.close().toCompletionStage().toCompletableFuture().get();
    }
}
