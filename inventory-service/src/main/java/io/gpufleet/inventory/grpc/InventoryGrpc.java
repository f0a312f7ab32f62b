package io.gpufleet.inventory.grpc;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetQuery;
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
import java.util.function.Function;
import java.util.function.Supplier;

/** Serves {@code InventoryService} from the committed fleet of this replica. */
public final class InventoryGrpc extends InventoryServiceGrpcService {
    private final Supplier<Fleet> fleet;
    private final Function<NodeState, NodeView> view;

    /** Serves the newest fleet; {@code view} maps a node to its message. */
    public InventoryGrpc(Supplier<Fleet> fleet, Function<NodeState, NodeView> view) {
        this.fleet = fleet;
        this.view = view;
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
        var page = new FleetQuery(request.getShortModel(), "", "").nodes(fleet.get(), after.get(), size);
        var response = ListNodesResponse.newBuilder();
        page.items().forEach(node -> response.addNodes(view.apply(node)));
        if (!page.next().isEmpty()) {
            response.setNextPageToken(PageToken.of(page.next()));
        }
        return Future.succeededFuture(response.build());
    }

    @Override
    public Future<GetNodeResponse> getNode(GetNodeRequest request) {
        return fleet.get()
                .node(request.getNode())
                .filter(node -> node.announcement() != null)
                .map(node -> Future.succeededFuture(
                        GetNodeResponse.newBuilder().setNode(view.apply(node)).build()))
                .orElseGet(() -> Future.failedFuture(new StatusException(
                        GrpcStatus.NOT_FOUND, "no node '" + request.getNode() + "' was announced")));
    }

    private static <T> Future<T> invalidArgument(String detail) {
        return Future.failedFuture(new StatusException(GrpcStatus.INVALID_ARGUMENT, detail));
    }
}
