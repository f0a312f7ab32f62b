package io.gpufleet.inventory.grpc;

import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.IndexedFleet;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.kit.web.ServerTls;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.inventory.v1.ViewedHolder;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.grpc.health.HealthService;
import io.vertx.grpc.reflection.ReflectionService;
import io.vertx.grpc.server.GrpcServer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/** The gRPC server with health and reflection. */
public final class InventoryGrpcServer implements AutoCloseable {
    private final BoundHttpServer server;

    private InventoryGrpcServer(BoundHttpServer server) {
        this.server = server;
    }

    /** Address of the server, and whether it speaks TLS; port 0 chooses a free port. */
    public record Listen(String host, int port, ServerTls tls) {}

    /**
     * Opens the server. Blocks, so it must not be called on an event loop.
     *
     * @param fleet newest fleet
     * @param view maps a node to its message
     */
    public static InventoryGrpcServer open(
            Vertx vertx,
            Supplier<IndexedFleet> fleet,
            Function<NodeState, NodeView> view,
            RequestWorkers workers,
            Access access,
            Listen listen) {
        var full = server(vertx, new InventoryGrpc(fleet, view, workers), access.ready());
        var masked = server(
                vertx, new InventoryGrpc(fleet, node -> withoutHolderNames(view.apply(node)), workers), access.ready());
        var authorized = new GrpcAuthorization(access.authorizer(), workers, full, masked);
        return new InventoryGrpcServer(BoundHttpServer.open(
                vertx, listen.tls().grpc(), authorized, listen.host(), listen.port(), "GPUFLEET_GRPC_PORT"));
    }

    /** Authorizer of reads, and readiness of this replica. */
    public record Access(Authorizer authorizer, BooleanSupplier ready) {}

    private static GrpcServer server(Vertx vertx, InventoryGrpc inventory, BooleanSupplier ready) {
        var health = HealthService.create(vertx)
                .register("", () -> Future.succeededFuture(ready.getAsBoolean()))
                .register(InventoryGrpc.SERVICE_NAME, () -> Future.succeededFuture(ready.getAsBoolean()));
        return GrpcServer.server(vertx).addService(inventory).addService(health).addService(ReflectionService.v1());
    }

    private static NodeView withoutHolderNames(NodeView node) {
        var masked = node.toBuilder().clearHolders();
        node.getHoldersList()
                .forEach(holder ->
                        masked.addHolders(ViewedHolder.newBuilder().addAllDeviceIds(holder.getDeviceIdsList())));
        return masked.build();
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
