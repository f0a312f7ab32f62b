package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.compose.kubelet.ResourceView;
import io.gpufleet.compose.kubelet.StandInKubelet;
import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.preferred.Machines;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.vertx.core.Vertx;
import java.nio.file.Files;
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
    private StandInKubelet kubelet;
    private KubeletLinks links;
    private KubeletDesk desk;

    @BeforeEach
    void start() throws Exception {
        // A socket's path has 107 bytes at most.
        kubelet = StandInKubelet.start(vertx, Files.createTempDirectory("k"));
        var counters = new Counters();
        desk = new KubeletDesk(
                new Allocator(PluginSettings.STANDARD, HostNodes.of(List.of())),
                () -> new Moment(Instant.EPOCH, System.nanoTime()),
                counters,
                _ -> {});
        links = new KubeletLinks(
                vertx,
                new KubeletLinks.LinkSettings(kubelet.devicePluginDirectory(), 1, () -> {}),
                desk,
                counters,
                System::nanoTime);
    }

    @AfterEach
    void stop() throws Exception {
        links.close();
        kubelet.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private void show(DeviceList list, int healthy) {
        desk.lists(Map.of(GPUS, list), list.version());
        links.show(Map.of(GPUS, list));
        await().atMost(Duration.ofSeconds(20))
                .until(() -> kubelet.resource(GPUS)
                        .map(ResourceView::allocatable)
                        .filter(allocatable -> allocatable == healthy)
                        .isPresent());
    }

    @Test
    void podsGetWholeQuadsOfACubeMesh() throws Exception {
        // Given
        show(Machines.whole(Machines.DGX_1), 8);
        var single = kubelet.allocate("team-a", "single", "main", GPUS, 1).deviceIds();

        // When
        var quad = kubelet.allocate("team-a", "quad", "main", GPUS, 4).deviceIds();

        // Then
        boolean lower = Machines.range(0, 4).containsAll(single);
        assertThat(quad).containsExactlyInAnyOrderElementsOf(lower ? Machines.range(4, 8) : Machines.range(0, 4));
    }

    @Test
    void lostGpuIsLeftOutAndItsQuadIsNotGivenForAWholeOne() throws Exception {
        // Given
        show(Machines.whole(Machines.DGX_1, 1), 7);

        // When
        var quad = kubelet.allocate("team-a", "quad", "main", GPUS, 4).deviceIds();

        // Then
        assertThat(quad).containsExactlyInAnyOrderElementsOf(Machines.range(4, 8));
    }
}
