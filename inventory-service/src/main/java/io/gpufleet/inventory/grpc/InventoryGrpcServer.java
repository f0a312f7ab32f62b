package io.gpufleet.inventory.grpc;

import io.gpufleet.kit.web.BoundHttpServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.grpc.health.HealthService;
import io.vertx.grpc.reflection.ReflectionService;
import io.vertx.grpc.server.GrpcServer;
import java.util.function.BooleanSupplier;

/** The gRPC server with health and reflection. */
public final class InventoryGrpcServer implements AutoCloseable {
    private final BoundHttpServer server;

    private InventoryGrpcServer(BoundHttpServer server) {
        this.server = server;
    }

    /** Opens the server; port 0 chooses a free port. Blocks, so it must not be called on an event loop. */
    public static InventoryGrpcServer open(
            Vertx vertx, InventoryGrpc inventory, BooleanSupplier ready, String host, int port) {
        var health = HealthService.create(vertx)
                .register("", () -> Future.succeededFuture(ready.getAsBoolean()))
                .register(InventoryGrpc.SERVICE_NAME, () -> Future.succeededFuture(ready.getAsBoolean()));
        GrpcServer grpc = GrpcServer.server(vertx)
                .addService(inventory)
                .addService(health)
                .addService(ReflectionService.v1());
        return new InventoryGrpcServer(BoundHttpServer.open(vertx, grpc, host, port, "GPUFLEET_GRPC_PORT"));
    }

    /** The bound port. */
    public int port() {
        return server.port();
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
