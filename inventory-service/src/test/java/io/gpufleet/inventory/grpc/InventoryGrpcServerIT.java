package io.gpufleet.inventory.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Message;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.TestNodes;
import io.gpufleet.inventory.model.query.IndexedFleet;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.kit.web.ServerTls;
import io.gpufleet.proto.inventory.v1.GetNodeRequest;
import io.gpufleet.proto.inventory.v1.InventoryServiceGrpcClient;
import io.gpufleet.proto.inventory.v1.ListNodesRequest;
import io.gpufleet.proto.inventory.v1.ListNodesResponse;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.inventory.v1.ViewedHolder;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.common.GrpcMessageDecoder;
import io.vertx.grpc.common.GrpcMessageEncoder;
import io.vertx.grpc.common.ServiceMethod;
import io.vertx.grpc.common.ServiceName;
import io.vertx.grpc.health.v1.HealthCheckRequest;
import io.vertx.grpc.health.v1.HealthCheckResponse;
import io.vertx.grpc.reflection.v1.ServerReflectionRequest;
import io.vertx.grpc.reflection.v1.ServerReflectionResponse;
import io.vertx.grpc.reflection.v1.ServiceResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Health and reflection, as load balancers and grpcurl call them. */
class InventoryGrpcServerIT {
    /** Questions that are answered at a time, or wait. */
    private static final int WORKERS = 10;

    private static final ServiceMethod<HealthCheckResponse, HealthCheckRequest> CHECK =
            method("grpc.health.v1.Health", "Check", HealthCheckResponse.getDefaultInstance());
    private static final ServiceMethod<ServerReflectionResponse, ServerReflectionRequest> REFLECT = method(
            "grpc.reflection.v1.ServerReflection",
            "ServerReflectionInfo",
            ServerReflectionResponse.getDefaultInstance());

    private final Vertx vertx = Vertx.vertx();
    private final AtomicBoolean ready = new AtomicBoolean(true);
    private final RequestWorkers workers = RequestWorkers.open(vertx, "queries", 1, WORKERS - 1);
    private volatile Authorizer authorizer = Authorizer.everybody();
    private volatile IndexedFleet fleet = IndexedFleet.EMPTY;
    private volatile int verdictLength;
    private InventoryGrpcServer server;
    private GrpcClient client;

    private static <A extends Message, Q extends Message> ServiceMethod<A, Q> method(
            String service, String name, A response) {
        return ServiceMethod.client(
                ServiceName.create(service),
                name,
                GrpcMessageEncoder.<Q>encoder(),
                GrpcMessageDecoder.<A>decoder(response));
    }

    @BeforeEach
    void open() {
        server = InventoryGrpcServer.open(
                vertx,
                () -> fleet,
                node -> NodeView.newBuilder()
                        .setNode(node.name())
                        .setNodeVerdict("x".repeat(verdictLength))
                        .addHolders(ViewedHolder.newBuilder().setPod("pod-1").addDeviceIds("GPU-1"))
                        .build(),
                workers,
                new InventoryGrpcServer.Access(authorizer, ready::get),
                new InventoryGrpcServer.Listen("127.0.0.1", 0, new ServerTls.Off()));
        client = GrpcClient.client(vertx, new GrpcClientOptions().setMaxMessageSize(4 << 20));
    }

    @AfterEach
    void close() throws Exception {
        server.close();
        get(vertx.close());
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private <A, Q> A call(ServiceMethod<A, Q> method, Q request) throws Exception {
        return get(client.request(SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"), method)
                .compose(call -> call.send(request))
                .compose(response -> response.last()));
    }

    @Test
    void healthReportsTheReadinessOfTheReplica() throws Exception {
        var request = HealthCheckRequest.newBuilder()
                .setService(InventoryGrpc.SERVICE_NAME.fullyQualifiedName())
                .build();

        assertThat(call(CHECK, request).getStatus()).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);

        ready.set(false);
        assertThat(call(CHECK, request).getStatus()).isEqualTo(HealthCheckResponse.ServingStatus.NOT_SERVING);
    }

    @Test
    void reflectionListsTheServices() throws Exception {
        var response = call(
                REFLECT,
                ServerReflectionRequest.newBuilder().setListServices("").build());

        assertThat(response.getListServicesResponse().getServiceList())
                .extracting(ServiceResponse::getName)
                .contains("io.gpufleet.inventory.v1.InventoryService", "grpc.health.v1.Health");
    }

    @Test
    void pageIsShorterThanAClientAcceptsAndNamesTheNext() throws Exception {
        // Given 5 nodes of 1 MiB
        fleet = TestNodes.indexed(IntStream.range(0, 5)
                .mapToObj(i -> TestNodes.node("n" + i, TestNodes.announcement(TestNodes.a100(i))))
                .toArray(NodeState[]::new));
        verdictLength = 1 << 20;
        var inventory =
                InventoryServiceGrpcClient.create(client, SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"));
        // When
        var first = get(inventory.listNodes(ListNodesRequest.getDefaultInstance()));
        var rest = get(inventory.listNodes(ListNodesRequest.newBuilder()
                .setPageToken(first.getNextPageToken())
                .build()));
        // Then
        assertThat(first.getNodesList()).hasSize(2);
        assertThat(rest.getNodesList()).extracting(NodeView::getNode).startsWith("n2");
        assertThat(get(inventory.getNode(
                                GetNodeRequest.newBuilder().setNode("n4").build()))
                        .getNode()
                        .getNode())
                .isEqualTo("n4");
    }

    @Test
    void readsAreRefusedAndHealthIsAnsweredWhileEveryWorkerIsBusy() throws Exception {
        // Given
        fleet = TestNodes.indexed(TestNodes.node("n1", TestNodes.announcement(TestNodes.a100(0))));
        var inventory =
                InventoryServiceGrpcClient.create(client, SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"));
        var node = GetNodeRequest.newBuilder().setNode("n1").build();
        var free = new CountDownLatch(1);
        var busy = Stream.generate(() -> workers.run(() -> free.await(1, TimeUnit.MINUTES)))
                .limit(WORKERS)
                .toList();
        // When, then
        try {
            assertThatThrownBy(() -> get(inventory.listNodes(ListNodesRequest.getDefaultInstance())))
                    .hasMessageContaining("RESOURCE_EXHAUSTED");
            assertThatThrownBy(() -> get(inventory.getNode(node))).hasMessageContaining("RESOURCE_EXHAUSTED");
            assertThat(call(CHECK, HealthCheckRequest.getDefaultInstance()).getStatus())
                    .isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
        } finally {
            free.countDown();
            get(Future.all(busy));
        }
        assertThat(get(inventory.getNode(node)).getNode().getNode()).isEqualTo("n1");
    }

    @Test
    void callNeedsATokenAndHoldersAreNamedToWhoMayListAllPods() throws Exception {
        // Given
        fleet = TestNodes.indexed(TestNodes.node("n1", TestNodes.announcement(TestNodes.a100(0))));
        authorizer = (token, request) -> switch (token) {
            case "root" -> new Authorizer.AccessResult.Allowed(token);
            case "ann" ->
                request.resource().equals("nodes")
                        ? new Authorizer.AccessResult.Allowed(token)
                        : new Authorizer.AccessResult.Forbidden(token, "not allowed");
            default -> new Authorizer.AccessResult.Unauthenticated();
        };
        server.close();
        open();
        // When, then
        assertThat(list("root").getNodes(0).getHolders(0).getPod()).isEqualTo("pod-1");
        assertThat(list("ann").getNodes(0).getHolders(0))
                .isEqualTo(ViewedHolder.newBuilder().addDeviceIds("GPU-1").build());
        for (String token : List.of("", "unknown")) {
            assertThatThrownBy(() -> list(token)).hasMessageContaining("UNAUTHENTICATED");
        }
        var health = HealthCheckRequest.newBuilder().setService("").build();
        assertThat(call(CHECK, health).getStatus()).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
    }

    private ListNodesResponse list(String token) throws Exception {
        ServiceMethod<ListNodesResponse, ListNodesRequest> method = method(
                "io.gpufleet.inventory.v1.InventoryService", "ListNodes", ListNodesResponse.getDefaultInstance());
        return get(client.request(SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"), method)
                .compose(call -> {
                    if (!token.isEmpty()) {
                        call.headers().set("authorization", "Bearer " + token);
                    }
                    return call.send(ListNodesRequest.getDefaultInstance());
                })
                .compose(response -> response.last()));
    }
}
