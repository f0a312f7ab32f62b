package io.gpufleet.nodedaemon.podresources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.app.HolderSource;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.podresources.ContainerDevices;
import io.gpufleet.proto.kubelet.podresources.ContainerResources;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerGrpcService;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.GrpcServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PodResourcesClientIT {
    private final Vertx vertx = Vertx.vertx();
    private final EventLoop loop = EventLoops.open("reporting");
    private final AtomicReference<GrpcStatus> status = new AtomicReference<>(GrpcStatus.OK);
    private final AtomicInteger pods = new AtomicInteger(1);
    private final List<String> authorities = new CopyOnWriteArrayList<>();
    private Path directory = Path.of("");
    private PodResourcesClient client;

    @BeforeEach
    void serve() throws Exception {
        directory = SocketDirectory.create();
        Path socket = directory.resolve("kubelet.sock");
        var grpc = GrpcServer.server(vertx);
        grpc.callHandler(
                PodResourcesListerGrpcService.List,
                call -> call.handler(_ -> {
                    if (status.get() == GrpcStatus.OK) {
                        call.response().end(answer());
                    } else {
                        call.response()
                                .status(status.get())
                                .statusMessage("rejected by rate limit")
                                .end();
                    }
                }));
        vertx.createHttpServer()
                .requestHandler(request -> {
                    authorities.add(String.valueOf(request.authority()));
                    grpc.handle(request);
                })
                .listen(SocketAddress.domainSocketAddress(socket.toString()))
                .toCompletionStage()
                .toCompletableFuture()
                .get();
        client = new PodResourcesClient(
                loop,
                socket,
                directory.resolve("kubelet_internal_checkpoint"),
                name -> name.startsWith("nvidia.com/"),
                Clock.systemUTC(),
                System::nanoTime);
    }

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    private ListPodResourcesResponse answer() {
        var response = ListPodResourcesResponse.newBuilder();
        for (int pod = 0; pod < pods.get(); pod++) {
            response.addPodResources(io.gpufleet.proto.kubelet.podresources.PodResources.newBuilder()
                    .setNamespace("team-a")
                    .setName("train-" + pod)
                    .addContainers(ContainerResources.newBuilder()
                            .setName("main")
                            .addDevices(ContainerDevices.newBuilder()
                                    .setResourceName("nvidia.com/gpu")
                                    .addDeviceIds("g" + pod))));
        }
        return response.build();
    }

    private Holdings list() throws Exception {
        return client.list().toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Test
    void responseIsJoinedWithTheCheckpoint() throws Exception {
        Files.writeString(directory.resolve("kubelet_internal_checkpoint"), """
            {"Data":{"PodDeviceEntries":[{"PodUID":"uid-0","ContainerName":"main",
            "ResourceName":"nvidia.com/gpu","DeviceIDs":{"0":["g0"]}}]}}\
            """);

        assertThat(list())
                .isEqualTo(new Holdings(
                        List.of(new Holder("team-a", "train-0", "uid-0", "main", "nvidia.com/gpu", List.of("g0"))),
                        true));
    }

    @Test
    void listOfManyPodsIsRead() throws Exception {
        // Given more than the 4 MiB that gRPC's own clients accept
        pods.set(90_000);
        assertThat(answer().getSerializedSize()).isGreaterThan(4 << 20);

        assertThat(list().holders()).hasSize(90_000);
    }

    @Test
    void callsHaveTheAuthorityOfAGoClient() throws Exception {
        list();

        assertThat(authorities).containsExactly("localhost");
    }

    @Test
    void rateLimitedKubeletIsReportedAsRateLimited() {
        status.set(GrpcStatus.RESOURCE_EXHAUSTED);

        assertThatThrownBy(this::list)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(HolderSource.RateLimitedException.class);
    }

    @Test
    void otherFailureIsNotReportedAsRateLimited() {
        status.set(GrpcStatus.UNAVAILABLE);

        assertThatThrownBy(this::list)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isNotInstanceOf(HolderSource.RateLimitedException.class);
    }
}
