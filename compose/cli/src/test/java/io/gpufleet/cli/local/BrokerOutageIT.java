package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.DeviceAllocation;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An outage of the broker that is longer than the age up to which a fault is acted on. That age is three seconds here
 * instead of ten minutes. The minute after which open faults are listed again is not shortened: a health-service that
 * reconnects later than three seconds after the daemon acts on that list.
 */
class BrokerOutageIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Duration MAX_ACTION_AGE = Duration.ofSeconds(3);
    private static final String GPU = "nvidia.com/gpu";

    @TempDir
    private Path directory;

    private FaultyNode node;

    @BeforeEach
    void start() throws Exception {
        node = FaultyNode.start(directory, Map.of("GPUFLEET_MAX_ACTION_AGE", MAX_ACTION_AGE.toString()), Map.of());
        await().atMost(TIMEOUT).until(() -> healthyGpus() == 2);
    }

    @AfterEach
    void stop() throws Exception {
        node.close();
    }

    @Test
    void faultDuringOutageTaintsNodeOnceBrokerIsBack() throws Exception {
        // Given
        node.bed().broker().kill();

        // When
        node.faults().inject(0, 79);
        Instant staleFrom = Instant.now().plus(MAX_ACTION_AGE);

        // Then
        await().atMost(TIMEOUT).until(() -> healthyGpus() == 1);
        DeviceAllocation given = node.kubelet().allocate("team-a", "meanwhile", "main", GPU, 1);
        assertThat(given.deviceIds()).hasSize(1);

        // When
        await().until(() -> Instant.now().isAfter(staleFrom));
        node.bed().broker().restart();

        // Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(node.taints()).containsExactly("gpufleet.io/unhealthy=Xid79"));
    }

    private long healthyGpus() {
        return node.kubelet().resource(GPU).map(AdvertisedResource::allocatable).orElse(0);
    }
}
