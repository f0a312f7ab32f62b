package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.preferred.TestTopologies;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A kubelet asks which devices are preferred, and gives these to the pod. */
class PreferredAllocationIT {
    private static final String GPUS = "nvidia.com/gpu";

    private final Vertx vertx = Vertx.vertx();
    private final EventLoop loop = EventLoops.open("kubelet");
    private FakeKubelet kubelet;
    private DevicePluginEndpoints devicePlugins;
    private AllocationHandler allocationHandler;

    @BeforeEach
    void start() throws Exception {
        // A socket's path has 107 bytes at most.
        kubelet = FakeKubelet.start(vertx, SocketDirectory.create());
        var counters = new DaemonCounters();
        allocationHandler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> new Moment(Instant.EPOCH, System.nanoTime()),
                counters,
                _ -> {});
        devicePlugins = new DevicePluginEndpoints(
                loop,
                new DevicePluginEndpoints.KubeletConnectionSettings(kubelet.devicePluginDirectory(), 1, () -> {}),
                allocationHandler,
                counters,
                System::nanoTime);
    }

    @AfterEach
    void stop() throws Exception {
        devicePlugins.close();
        kubelet.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }

    private void publish(DeviceList list, int healthy) {
        allocationHandler.lists(Map.of(GPUS, list), list.version());
        devicePlugins.publish(Map.of(GPUS, list));
        await().atMost(Duration.ofSeconds(20))
                .until(() -> kubelet.resource(GPUS)
                        .map(AdvertisedResource::allocatable)
                        .filter(allocatable -> allocatable == healthy)
                        .isPresent());
    }

    @Test
    void podsGetWholeQuadsOfACubeMesh() throws Exception {
        // Given
        publish(TestTopologies.whole(TestTopologies.DGX_1), 8);
        var single = kubelet.allocate("team-a", "single", "main", GPUS, 1).deviceIds();

        // When
        var quad = kubelet.allocate("team-a", "quad", "main", GPUS, 4).deviceIds();

        // Then
        boolean lower = TestTopologies.range(0, 4).containsAll(single);
        assertThat(quad)
                .containsExactlyInAnyOrderElementsOf(lower ? TestTopologies.range(4, 8) : TestTopologies.range(0, 4));
    }

    @Test
    void lostGpuIsLeftOutAndItsQuadIsNotGivenForAWholeOne() throws Exception {
        // Given
        publish(TestTopologies.whole(TestTopologies.DGX_1, 1), 7);

        // When
        var quad = kubelet.allocate("team-a", "quad", "main", GPUS, 4).deviceIds();

        // Then
        assertThat(quad).containsExactlyInAnyOrderElementsOf(TestTopologies.range(4, 8));
    }
}
