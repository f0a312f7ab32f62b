package io.gpufleet.inventory.grpc;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.IndexedFleet;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.proto.inventory.v1.GetNodeRequest;
import io.gpufleet.proto.inventory.v1.GetNodeResponse;
import io.gpufleet.proto.inventory.v1.InventoryServiceGrpcService;
import io.gpufleet.proto.inventory.v1.ListNodesRequest;
import io.gpufleet.proto.inventory.v1.ListNodesResponse;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.vertx.core.Future;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.StatusException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/** Serves {@code InventoryService} from the committed fleet of this replica. */
public final class InventoryGrpc extends InventoryServiceGrpcService {
    /** Clients of gRPC refuse messages of more than 4 MiB, unless they are told otherwise; one node is always listed. */
    private static final int MAX_BYTES = 3 << 20;

    private final Supplier<IndexedFleet> fleet;
    private final Function<NodeState, NodeView> view;
    private final RequestWorkers workers;

    /** Serves the newest fleet on worker threads; {@code view} maps a node to its message. */
    public InventoryGrpc(Supplier<IndexedFleet> fleet, Function<NodeState, NodeView> view, RequestWorkers workers) {
        this.fleet = fleet;
        this.view = view;
        this.workers = workers;
    }

    @Override
    public Future<ListNodesResponse> listNodes(ListNodesRequest request) {
        Optional<String> after = PageToken.position(request.getPageToken());
        if (after.isEmpty()) {
            return invalidArgument("invalid page_token: use next_page_token of the previous page");
        }
        if (request.getPageSize() < 0 || request.getPageSize() > FleetQuery.Page.MAX_SIZE) {
            return invalidArgument(
                    "page_size is " + request.getPageSize() + "; must be 0 to " + FleetQuery.Page.MAX_SIZE);
        }
        int size = request.getPageSize() == 0 ? FleetQuery.Page.DEFAULT_SIZE : request.getPageSize();
        return respond(() -> page(FleetQuery.ofModel(request.getShortModel()), after.get(), size));
    }

    private ListNodesResponse page(FleetQuery query, String after, int size) {
        var found = query.nodes(fleet.get(), after, size);
        var response = ListNodesResponse.newBuilder();
        String next = "";
        int bytes = 0;
        for (NodeState node : found.items()) {
            NodeView wire = view.apply(node);
            bytes += wire.getSerializedSize();
            if (!next.isEmpty() && bytes > MAX_BYTES) {
                return response.setNextPageToken(PageToken.of(next)).build();
            }
            response.addNodes(wire);
            next = node.name();
        }
        return found.more() ? response.setNextPageToken(PageToken.of(next)).build() : response.build();
    }

    @Override
    public Future<GetNodeResponse> getNode(GetNodeRequest request) {
        return fleet.get()
                .fleet()
                .node(request.getNode())
                .filter(node -> node.announcement() != null)
                .map(node -> respond(() ->
                        GetNodeResponse.newBuilder().setNode(view.apply(node)).build()))
                .orElseGet(() -> Future.failedFuture(new StatusException(
                        GrpcStatus.NOT_FOUND, "no node '" + request.getNode() + "' was announced")));
    }

    private <T> Future<T> respond(Callable<T> response) {
        return workers.run(response)
                .recover(failed -> Future.failedFuture(
                        failed instanceof RejectedExecutionException
                                ? new StatusException(
                                        GrpcStatus.RESOURCE_EXHAUSTED, String.valueOf(failed.getMessage()))
                                : failed));
    }

    private static <T> Future<T> invalidArgument(String detail) {
        return Future.failedFuture(new StatusException(GrpcStatus.INVALID_ARGUMENT, detail));
    }
}
