package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.KubeletManners;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A kubelet that restarts for ever costs nothing for ever. Both sides live in this process and are measured together. */
class KubeletRestartsIT {
    private static final Logger LOG = LoggerFactory.getLogger(KubeletRestartsIT.class);
    private static final String GPUS = "nvidia.com/gpu";
    private static final int WARM_UP = 100;
    private static final int RESTARTS = 1_000;

    /**
     * 5 KB a restart: a server, a client or a stream that stayed would be more. A bit over half of it is used up by the
     * stand-in, which dials with a new HTTP client at each registration: Vert.x 5.0.7 keeps a closed client's network
     * client in the close list of its Vertx. The daemon makes its clients once.
     */
    private static final long HEAP_GROWTH = 5_000_000;

    private record Footprint(long descriptors, int threads, long heapBytes) {
        private static Footprint now() throws IOException {
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                return new Footprint(
                        open.count(),
                        ManagementFactory.getThreadMXBean().getThreadCount(),
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            }
        }

        private boolean withinBoundsOf(Footprint before) {
            return descriptors <= before.descriptors() + 4
                    && threads <= before.threads() + 2
                    && heapBytes <= before.heapBytes() + HEAP_GROWTH;
        }
    }

    @Test
    void aThousandRestartsLeaveNothingBehind() throws Exception {
        try (var node = LinkedKubelet.with(KubeletManners.USUAL)) {
            node.show(Map.of(GPUS, 8));
            restart(node, WARM_UP);
            Footprint before = Footprint.now();
            long start = System.nanoTime();

            restart(node, RESTARTS);

            Duration took = Duration.ofNanos(System.nanoTime() - start);
            // What was closed last may still be on its way.
            await().untilAsserted(() -> assertThat(Footprint.now()).matches(now -> now.withinBoundsOf(before)));
            LOG.atInfo()
                    .addKeyValue("restarts", RESTARTS)
                    .addKeyValue("millisEach", took.toMillis() / (double) RESTARTS)
                    .addKeyValue("before", before)
                    .addKeyValue("after", Footprint.now())
                    .log("the kubelet restarted");
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(1 + WARM_UP + RESTARTS);
            assertThat(node.links().openStreams()).isEqualTo(1);
            try (Stream<Path> sockets = Files.list(node.kubelet().devicePluginDirectory())) {
                assertThat(sockets.filter(file -> file.toString().endsWith(".sock")))
                        .hasSize(2);
            }
        }
    }

    private static void restart(LinkedKubelet node, int times) {
        for (int i = 0; i < times; i++) {
            await().pollInterval(Duration.ofMillis(1)).until(() -> node.allocatable(GPUS) == 8);
            node.kubelet().restart();
        }
        await().until(() -> node.allocatable(GPUS) == 8);
    }
}
