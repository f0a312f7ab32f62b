package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
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

/** Restarts of the kubelet leak nothing. Daemon and kubelet run in this process and are measured together. */
class DevicePluginEndpointsRestartIT {
    private static final Logger LOG = LoggerFactory.getLogger(DevicePluginEndpointsRestartIT.class);
    private static final String GPUS = "nvidia.com/gpu";
    private static final int WARM_UP = 100;
    private static final int RESTARTS = 1_000;

    /**
     * 5 KB per restart: a leaked server, client or stream would be more. A bit over half of it is due to the fake kubelet,
     * which connects with a new HTTP client at each registration: Vert.x 5.0.7 keeps the network client of a closed client
     * in the close list of its Vertx. The daemon creates its clients once.
     */
    private static final long HEAP_GROWTH = 5_000_000;

    private record ProcessFootprint(long descriptors, int threads, long heapBytes) {
        private static ProcessFootprint now() throws IOException {
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                return new ProcessFootprint(
                        open.count(),
                        ManagementFactory.getThreadMXBean().getThreadCount(),
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            }
        }

        private boolean withinBoundsOf(ProcessFootprint before) {
            return descriptors <= before.descriptors() + 4
                    && threads <= before.threads() + 2
                    && heapBytes <= before.heapBytes() + HEAP_GROWTH;
        }
    }

    @Test
    void thousandRestartsLeakNothing() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            node.publish(Map.of(GPUS, 8));
            restart(node, WARM_UP);
            ProcessFootprint before = ProcessFootprint.now();
            long start = System.nanoTime();

            restart(node, RESTARTS);

            Duration took = Duration.ofNanos(System.nanoTime() - start);
            // The last connections may still be closing.
            await().untilAsserted(() -> assertThat(ProcessFootprint.now()).matches(now -> now.withinBoundsOf(before)));
            LOG.atInfo()
                    .addKeyValue("restarts", RESTARTS)
                    .addKeyValue("millisEach", took.toMillis() / (double) RESTARTS)
                    .addKeyValue("before", before)
                    .addKeyValue("after", ProcessFootprint.now())
                    .log("the kubelet restarted");
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(1 + WARM_UP + RESTARTS);
            assertThat(node.devicePlugins().openStreams()).isEqualTo(1);
            try (Stream<Path> sockets = Files.list(node.kubelet().devicePluginDirectory())) {
                assertThat(sockets.filter(file -> file.toString().endsWith(".sock")))
                        .hasSize(2);
            }
        }
    }

    private static void restart(DevicePluginFixture node, int times) {
        for (int i = 0; i < times; i++) {
            await().pollInterval(Duration.ofMillis(1)).until(() -> node.allocatable(GPUS) == 8);
            node.kubelet().restart();
        }
        await().until(() -> node.allocatable(GPUS) == 8);
    }
}
