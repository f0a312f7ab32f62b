package io.gpufleet.inventory.grpc;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.FleetQuery;
import io.gpufleet.inventory.model.NodeImage;
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

/** Answers {@code InventoryService} from the image that this replica has. */
public final class InventoryGrpc extends InventoryServiceGrpcService {
    private static final int DEFAULT_PAGE = 100;
    private static final int LARGEST_PAGE = 1000;

    private final Supplier<Fleet> fleet;
    private final Function<NodeImage, NodeView> view;

    /** Answers from the newest image; {@code view} says how a node is told. */
    public InventoryGrpc(Supplier<Fleet> fleet, Function<NodeImage, NodeView> view) {
        this.fleet = fleet;
        this.view = view;
    }

    @Override
    public Future<ListNodesResponse> listNodes(ListNodesRequest request) {
        Optional<String> after = PageToken.place(request.getPageToken());
        if (after.isEmpty()) {
            return refused("page_token is not one that this service gave");
        }
        if (request.getPageSize() < 0 || request.getPageSize() > LARGEST_PAGE) {
            return refused("page_size is " + request.getPageSize() + "; it takes 0 to " + LARGEST_PAGE);
        }
        int size = request.getPageSize() == 0 ? DEFAULT_PAGE : request.getPageSize();
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

    private static <T> Future<T> refused(String why) {
        return Future.failedFuture(new StatusException(GrpcStatus.INVALID_ARGUMENT, why));
    }
}
