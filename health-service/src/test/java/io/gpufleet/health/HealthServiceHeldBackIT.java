package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program where it decides and does nothing: without GPUFLEET_MODE, beside a pool that enforces, and while it is frozen. */
class HealthServiceHeldBackIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String NAMESPACE = "default";
    private static final Map<String, String> ENFORCED = Map.of("tier", "enforced");
    private static final String POLICY = """
            policy: drains
            extends: nvidia
            xids: {79: {class: taint-reboot, recommendedAction: reboot, drain: gpu-pods}}
            drain: {notice: PT1S, deadline: PT1H, jobInterval: PT0S, nodes: 4}
            """;
    private static final String POOLS = """
            pools:
              - name: enforced
                selector: {tier: enforced}
                mode: enforce
                limits: {nodes: {percent: 100}, devices: {percent: 100}}
            """;

    @TempDir
    private static Path dir;

    private static TestBed bed;
    private static NodeFields fields;
    private static ProgramProcess service;

    @BeforeAll
    static void startTheServiceWithoutAMode() throws IOException {
        bed = TestBed.start(dir);
        fields = new NodeFields(bed.client());
        Path policy = Files.writeString(dir.resolve("policy.yaml"), POLICY);
        Path pools = Files.writeString(dir.resolve("pools.yaml"), POOLS);
        service = ProgramProcess.of("health-service", HealthMain.class.getName(), dir)
                .environment(bed.settings())
                .environment(Map.of("GPUFLEET_POLICY", policy.toString(), "GPUFLEET_POOLS", pools.toString()))
                .environment(Map.of("GPUFLEET_SESSION_TIMEOUT", "2s"))
                .start()
                .awaitReady(TIMEOUT);
        await().atMost(TIMEOUT).until(() -> service.hasMetric("gpufleet_active 1.0"));
    }

    @AfterAll
    static void stopAll() {
        service.close();
        bed.close();
    }

    /** A pod that holds a GPU of the node, and has its name. */
    private static void run(String node) {
        bed.client()
                .pods()
                .inNamespace(NAMESPACE)
                .resource(TestedHealthService.gpuPod(node, node).build())
                .create();
    }

    private static List<Pod> pods(String node) {
        return bed.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .filter(pod -> pod.getMetadata().getName().equals(node))
                .toList();
    }

    private static JsonObject why(String node) {
        return TestedHealthService.why(service, node);
    }

    private static String conditionMessage(String node) {
        return fields.read(node).getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("GpuUnhealthy"))
                .map(NodeCondition::getMessage)
                .findFirst()
                .orElse("");
    }

    @Test
    void nodeOfNoModeIsOnlySaidWhatWouldBeDone() {
        // Given
        try (var observed = TestedHealthService.announceNode(bed, "observed", Map.of());
                var enforced = TestedHealthService.announceNode(bed, "enforced", ENFORCED)) {
            run("observed");
            run("enforced");

            // When
            observed.observeXid(0, 79);
            await().atMost(TIMEOUT).until(() -> fields.condition("observed").equals("True Xid79"));
            enforced.observeXid(0, 79);
            await().atMost(TIMEOUT)
                    .until(() -> fields.taint("enforced").isPresent()
                            && pods("enforced").isEmpty());

            // Then
            assertThat(fields.condition("observed")).isEqualTo("True Xid79");
            assertThat(conditionMessage("observed"))
                    .contains("would taint: mode observe", "would withdraw 1 GPU: mode observe");
            assertThat(fields.taint("observed")).isEmpty();
            assertThat(fields.read("observed").getMetadata().getLabels()).doesNotContainKey("gpufleet.io/health");
            assertThat(fields.read("observed").getMetadata().getAnnotations())
                    .doesNotContainKey("gpufleet.io/recommended-action");
            assertThat(pods("observed"))
                    .singleElement()
                    .satisfies(pod -> assertThat(pod.getMetadata().getAnnotations())
                            .doesNotContainKey("gpufleet.io/eviction-at"));
            JsonObject why = why("observed");
            assertThat(why.getString("heldBack")).isEqualTo("mode observe");
            assertThat(why.getBoolean("trusted")).isTrue();
            assertThat(why.getJsonObject("drain").getString("phase")).isEqualTo("none");
            assertThat(why.getJsonArray("devices").getJsonObject(0))
                    .contains(Map.entry("heldBack", "mode observe"), Map.entry("trusted", true));
            assertThat(why("enforced").getString("heldBack")).isEmpty();
        }
    }

    @Test
    void taintOutlastsItsFaultWhileTheFleetIsFrozen() {
        // Given
        try (var daemon = TestedHealthService.announceNode(bed, "frozen", ENFORCED)) {
            daemon.observeXid(0, 79);
            await().atMost(TIMEOUT)
                    .until(() -> fields.taint("frozen").map(Taint::getValue).equals(Optional.of("Xid79")));

            // When
            assertThat(post("/v1/freeze", "network maintenance")).isEqualTo(202);
            await().atMost(TIMEOUT)
                    .until(() -> why("frozen").getString("frozen", "").contains("network maintenance"));
            daemon.clearXid(0, 79);

            // Then
            await().atMost(TIMEOUT).untilAsserted(() -> {
                JsonObject desired = why("frozen").getJsonObject("desired", new JsonObject());
                assertThat(desired.getString("taint")).isEmpty();
                assertThat(desired.getString("outcome"))
                        .startsWith("left alone: ")
                        .contains("network maintenance");
            });
            assertThat(fields.taint("frozen")).map(Taint::getValue).contains("Xid79");
            assertThat(fields.read("frozen").getMetadata().getLabels())
                    .containsEntry("gpufleet.io/health", "unhealthy");

            // When
            assertThat(post("/v1/unfreeze", "it is over")).isEqualTo(202);

            // Then
            await().atMost(TIMEOUT).until(() -> fields.taint("frozen").isEmpty());
        }
    }

    private static int post(String path, String reason) {
        return service.post(path, "admin", "{\"reason\":\"" + reason + "\"}").status();
    }
}
