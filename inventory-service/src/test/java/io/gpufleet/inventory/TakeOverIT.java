package io.gpufleet.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.kit.lifecycle.Shutdown;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A standby goes on where the active replica ended. */
class TakeOverIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private java.nio.file.Path dir;

    @Test
    void standbyTakesOverWithTheWholeImageAndGoesOnLabelling() throws Exception {
        try (var city = new TestCity(dir);
                var first = new Shutdown();
                var second = new Shutdown();
                var daemon = new TestDaemon(city.kafka(), TestCity.CLUSTER, "n1")) {
            // Given
            var active = city.replica("inventory-service-0", first);
            await().atMost(SOON).until(() -> active.role().get().equals("ACTIVE"));
            city.createNode("n1", Map.of("nvidia.com/mig.config", "all-balanced"));
            daemon.announce("NVIDIA A100-SXM4-40GB", "A100", "12.4", 8);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(city.labels("n1")).containsEntry("gpu-type", "a100"));
            var standby = city.replica("inventory-service-1", second);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(
                                    TestCity.get(standby, "/v1/nodes/n1").path("labels"))
                            .isNotEmpty());
            var before = TestCity.get(standby, "/v1/nodes/n1");
            // When
            first.close();
            await().atMost(SOON).until(() -> standby.role().get().equals("ACTIVE"));
            // Then
            var after = TestCity.get(standby, "/v1/nodes/n1");
            assertThat(after).isEqualTo(before);
            daemon.announce("NVIDIA H100 80GB HBM3", "H100", "12.4", 8);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(city.labels("n1")).containsEntry("gpu-type", "h100"));
        }
    }
}
