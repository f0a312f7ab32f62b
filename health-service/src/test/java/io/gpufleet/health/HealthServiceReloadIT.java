package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Taint;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A leader whose files of policy and pools are replaced: it decides about every node anew, without a new event of a daemon. */
class HealthServiceReloadIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String POLICY = """
            policy: site
            extends: nvidia
            xids: {63: {class: %s, recommendedAction: reboot}}
            """;
    private static final String POOLS = """
            pools:
              - name: steady
                selector: {tier: steady}
                mode: enforce
                limits: {nodes: {percent: 100}, devices: {percent: 100}}
              - name: changed
                selector: {tier: changed}
                mode: %s
                limits: {nodes: {percent: 100}, devices: {percent: 100}}
            """;

    @TempDir
    private static Path dir;

    private static TestBed bed;
    private static NodeFields fields;
    private static ProgramProcess leader;

    @BeforeAll
    static void startTheLeader() throws IOException {
        bed = TestBed.start(dir);
        fields = new NodeFields(bed.client());
        leader = TestedHealthService.program(dir)
                .environment(bed.settings())
                .environment(Map.of(
                        "GPUFLEET_POLICY",
                        write("site.yaml", POLICY, "suspect").toString(),
                        "GPUFLEET_POOLS",
                        write("pools.yaml", POOLS, "observe").toString()))
                .start()
                .awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> leader.hasMetric("gpufleet_active 1.0"));
    }

    @AfterAll
    static void stopAll() {
        leader.close();
        bed.close();
    }

    private static Path write(String file, String text, String value) throws IOException {
        return Files.writeString(dir.resolve(file), text.formatted(value));
    }

    private static Optional<String> taint(String node) {
        return fields.taint(node).map(Taint::getValue);
    }

    private static JsonObject why(String node) {
        return TestedHealthService.why(leader, node);
    }

    @Test
    void openFaultIsDecidedAnewByAReplacedPolicyFile() throws IOException {
        // Given
        try (var daemon = TestedHealthService.announceNode(bed, "by-policy", Map.of("tier", "steady"))) {
            daemon.observeXid(0, 63);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(
                                    leader.get("/v1/nodes/by-policy/why").body())
                            .contains("SUSPECT"));
            assertThat(taint("by-policy")).isEmpty();

            // When
            write("site.yaml", POLICY, "taint-reboot");

            // Then
            await().atMost(TIMEOUT).until(() -> taint("by-policy").equals(Optional.of("Xid63")));
            assertThat(why("by-policy").getBoolean("trusted")).isFalse();

            // When
            write("site.yaml", POLICY, "suspect");

            // Then
            await().atMost(TIMEOUT).until(() -> taint("by-policy").isEmpty());
        }
    }

    @Test
    void nodeIsDecidedAboutAnewByTheModeOfAReplacedPoolsFile() throws IOException {
        // Given
        try (var daemon = TestedHealthService.announceNode(bed, "by-pools", Map.of("tier", "changed"))) {
            daemon.observeXid(0, 79);
            await().atMost(TIMEOUT)
                    .until(() -> "mode observe".equals(why("by-pools").getString("heldBack")));
            assertThat(taint("by-pools")).isEmpty();

            // When
            write("pools.yaml", POOLS, "enforce");

            // Then
            await().atMost(TIMEOUT).until(() -> taint("by-pools").equals(Optional.of("Xid79")));

            // When
            write("pools.yaml", POOLS, "observe");

            // Then
            await().atMost(TIMEOUT).until(() -> taint("by-pools").isEmpty());
            await().atMost(TIMEOUT)
                    .until(() -> "mode observe".equals(why("by-pools").getString("heldBack")));
        }
    }
}
