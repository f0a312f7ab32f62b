package io.gpufleet.inventory.grpc;

import io.gpufleet.kit.web.HttpDoor;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.grpc.health.HealthService;
import io.vertx.grpc.reflection.ReflectionService;
import io.vertx.grpc.server.GrpcServer;
import java.util.function.BooleanSupplier;

/** Serves gRPC with health and reflection, or says plainly that the port is taken. */
public final class GrpcDoor implements AutoCloseable {
    private final HttpDoor door;

    private GrpcDoor(HttpDoor door) {
        this.door = door;
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
        return new GrpcDoor(HttpDoor.open(vertx, grpc, host, port, "GPUFLEET_GRPC_PORT"));
    }

    /** The port that is served. */
    public int port() {
        return door.port();
    }

    @Override
    public void close() throws Exception {
        door.close();
    }
}
