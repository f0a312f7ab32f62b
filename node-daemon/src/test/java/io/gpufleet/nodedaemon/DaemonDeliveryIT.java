package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** What a daemon process publishes over kills, without its broker, and without its disk. */
class DaemonDeliveryIT {
    private static final Duration TIMEOUT = DaemonTestNode.TIMEOUT;

    @TempDir
    Path directory;

    private DaemonTestNode node;

    @BeforeEach
    void startKubelet(TestInfo test) throws IOException {
        node = new DaemonTestNode(test.getDisplayName(), directory);
    }

    @AfterEach
    void stopKubelet() {
        node.close();
    }

    @Test
    void killsLoseNoEventAndReuseNoSequence() throws Exception {
        try (var daemon = node.daemon(Map.of("GPUFLEET_TELEMETRY_INTERVAL", "100ms"))) {
            // Given a daemon that is killed repeatedly while faults occur
            for (int round = 0; round < 4; round++) {
                int expected = round + 1;
                await().atMost(TIMEOUT)
                        .until(() -> node.kubelet().registrations(DaemonTestNode.GPUS) == expected
                                && node.allocatable() > 0);
                for (int gpu = 0; gpu < 6; gpu++) {
                    daemon.fault(gpu, 31);
                }
                await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("fault=\"xid-31\"} 6"));
                daemon.kill();
                if (round < 3) {
                    for (int gpu = 0; gpu < 6; gpu++) {
                        daemon.clear(gpu);
                    }
                    daemon.restart();
                }
            }

            // When the last start has sent all remaining events
            daemon.restart();
            await().atMost(TIMEOUT).until(() -> node.kubelet().registrations(DaemonTestNode.GPUS) == 5);
            await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("gpufleet_daemon_broker_connected 1"));
            await().atMost(TIMEOUT).untilAsserted(() -> {
                assertThat(node.numbering().gaps()).isEmpty();
                assertThat(node.numbering().epochs()).isEqualTo(5);
            });
        }

        // Then the events of each start have no gap, and each id has one event
        assertThat(node.numbering().gaps()).isEmpty();
        assertThat(node.numbering().overtaken()).isEmpty();
        Map<String, String> jsonById = new HashMap<>();
        for (EventReader.ReadEvent read : node.read()) {
            String before = jsonById.putIfAbsent(read.id(), read.json());
            assertThat(before == null || before.equals(read.json())).isTrue();
        }
        assertThat(jsonById.keySet().stream().filter(id -> id.contains("/health/")))
                .hasSizeGreaterThanOrEqualTo(4 * 6);
    }

    @Test
    void allocateSucceedsWhileTheBrokerIsDownAndEveryFactArrives() throws Exception {
        try (var daemon = node.daemon(Map.of("GPUFLEET_RECOVERY_DWELL", "200ms"))) {
            node.awaitAllocatable(8);
            await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("gpufleet_daemon_broker_connected 1"));
            await().atMost(TIMEOUT).until(() -> node.count(EventType.FAULTS_OPEN) >= 1);
            // On a slow machine the broker may seem unreachable at the start: that outage has to be over.
            await().atMost(TIMEOUT)
                    .until(() -> brokerUnavailableWarnings(daemon) == 0
                            || daemon.log().contains("backlog sent to the broker"));

            // Given a broker that is down
            long before = brokerUnavailableWarnings(daemon);
            long connects = connects(daemon);
            node.broker().kill();
            daemon.fault(0, 79);
            node.awaitAllocatable(7);
            daemon.fault(1, 31);

            // Then pods still get their devices
            assertThat(node.kubelet()
                            .allocate("team-a", "train-0", "main", DaemonTestNode.GPUS, 4)
                            .deviceIds())
                    .hasSize(4);
            // The next producer is created once the previous one is closed.
            await().atMost(TIMEOUT).until(() -> connects(daemon) > connects);
            assertThat(brokerUnavailableWarnings(daemon)).isEqualTo(before + 1);

            // And every fact arrives, with an age that the whole outage is in
            Instant back = Instant.now();
            node.broker().restart();
            await().atMost(TIMEOUT).until(() -> node.count(EventType.DEVICES_ALLOCATED) >= 1);
            await().atMost(TIMEOUT).until(() -> node.numbering().gaps().isEmpty());
            assertThat(node.numbering().overtaken()).isEmpty();
            assertThat(node.read())
                    .filteredOn(read -> read.event().envelope().type() == EventType.FAULT_OBSERVED)
                    .hasSizeGreaterThanOrEqualTo(2)
                    .allMatch(
                            read -> !sentAt(read.event().envelope().eventTime()).isBefore(back));
            await().atMost(TIMEOUT)
                    .until(() -> node.read().stream()
                            .filter(read -> read.event().envelope().type() == EventType.FAULTS_OPEN)
                            .reduce((a, b) -> b)
                            .filter(read -> read.event()
                                            .envelope()
                                            .eventTime()
                                            .occurred()
                                            .isAfter(back)
                                    && read.json().contains("\"xid\":79"))
                            .isPresent());
        }
    }

    /** When it was sent, as its age says. */
    private static Instant sentAt(EventTime time) {
        return time.occurred().plusMillis(time.ageMillis());
    }

    private static long connects(DaemonProcess daemon) {
        return daemon.page("/metrics")
                .lines()
                .filter(line -> line.startsWith("gpufleet_daemon_broker_connects_total "))
                .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow();
    }

    private static long brokerUnavailableWarnings(DaemonProcess daemon) {
        return daemon.log()
                .lines()
                .filter(line -> line.contains("broker unreachable"))
                .count();
    }

    @Test
    void daemonServesDevicesWithoutAWritableDisk() throws Exception {
        try (var daemon = node.daemon(Map.of("GPUFLEET_STATE_DIR", "/proc/no-such-place"))) {
            node.awaitAllocatable(8);
            daemon.fault(0, 79);
            node.awaitAllocatable(7);

            await().atMost(TIMEOUT).until(() -> node.count(EventType.FAULT_OBSERVED) == 1);
            assertThat(node.numbering().gaps()).isEmpty();
        }
    }
}
