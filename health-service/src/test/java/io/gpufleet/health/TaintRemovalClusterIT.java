package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Conclusions of the program from the managedFields of the API server of GPUFLEET_TEST_KUBECONFIG when its taint is gone. Simulated
 * nodes, which are ready: to others the control plane applies taints whenever it notices that no kubelet is there.
 */
class TaintRemovalClusterIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String ACCOUNT = "gpufleet-it-removal";
    private static final String KEY = "gpufleet.io/unhealthy";
    private static final String SIMULATED = "kwok.x-k8s.io/node";
    private static final String ONLY_SIMULATED =
            "{\"spec\":{\"taints\":[{\"key\":\"%s\",\"value\":\"fake\",\"effect\":\"NoSchedule\"}]}}"
                    .formatted(SIMULATED);
    private static final int REPAIRS = 3;

    /** Removes the entry with our key from the list of taints that kubectl edit shows. */
    private static final String EDITOR = """
            #!/bin/sh
            sed -i -z 's|  - effect: NoSchedule\\n    key: gpufleet.io/unhealthy\\n\\(    timeAdded: [^\\n]*\\n\\)\\?    value: [^\\n]*\\n||' "$1"
            """;

    @TempDir
    private static Path dir;

    private static final Codec CODEC = new Codec("it", new Topics(Topics.DEFAULT_PREFIX));
    private static final Map<String, DaemonEventProducer> DAEMONS = new TreeMap<>();
    private static TestServiceAccount account;
    private static BrokerProcess broker;
    private static ProgramProcess service;

    /** A node of each test, in the order of the simulated nodes. */
    private enum Scene {
        TAINT_COMMAND,
        EDIT_COMMAND,
        TAINT_THEN_UNCORDON,
        UPDATE_BY_CONTROLLER,
        PATCH_BY_CONTROLLER,
        LAST_TAINT;

        String node() {
            return "kwok-" + ordinal();
        }
    }

    @BeforeAll
    static void startTheService() throws IOException {
        account = TestServiceAccount.create(ACCOUNT);
        RealCluster.tool("kwok", Integer.toString(Scene.values().length));
        broker = BrokerProcess.start(dir.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), CODEC.topics());
        for (Scene scene : Scene.values()) {
            await().atMost(TIMEOUT).until(() -> settled(scene.node()));
            DAEMONS.put(
                    scene.node(),
                    new DaemonEventProducer(broker.bootstrap(), CODEC, scene.node()).announce(TestGpus.h100(2)));
        }
        service = TestedHealthService.program(dir)
                .environment(Map.of(
                        "GPUFLEET_CLUSTER",
                        "it",
                        "GPUFLEET_KAFKA",
                        broker.bootstrap(),
                        "GPUFLEET_INSTANCE",
                        "health-service-0",
                        "KUBECONFIG",
                        account.kubeconfig(dir.resolve("kubeconfig")).toString()))
                .start()
                .awaitReady(TIMEOUT);
    }

    @AfterAll
    static void stopAll() {
        service.close();
        DAEMONS.values().forEach(DaemonEventProducer::close);
        broker.close();
        RealCluster.tool("kwok", "0");
        account.close();
    }

    private static KubernetesClient admin() {
        return account.admin();
    }

    private static boolean settled(String node) {
        Node found = admin().nodes().withName(node).require();
        return found.getStatus().getConditions().stream()
                        .anyMatch(each -> each.getType().equals("Ready")
                                && each.getStatus().equals("True"))
                && taints(node).stream().allMatch(SIMULATED::equals);
    }

    private static List<String> taints(String node) {
        return admin().nodes().withName(node).require().getSpec().getTaints().stream()
                .map(Taint::getKey)
                .toList();
    }

    private static boolean tainted(String node) {
        return taints(node).contains(KEY);
    }

    private static void fault(Scene scene, int gpu) {
        Objects.requireNonNull(DAEMONS.get(scene.node())).observeXid(gpu, 79);
        await().atMost(TIMEOUT).until(() -> tainted(scene.node()));
    }

    private static JsonObject override(Scene scene) {
        return TestedHealthService.why(service, scene.node()).getJsonObject("override", new JsonObject());
    }

    private static void awaitOverrideBy(Scene scene, String manager) {
        await().atMost(TIMEOUT)
                .untilAsserted(() ->
                        assertThat(override(scene)).contains(Map.entry("target", "taint"), Map.entry("by", manager)));
        assertThat(tainted(scene.node())).isFalse();
    }

    /** Runs kubectl as a person would. */
    private static void kubectl(String... arguments) {
        RealCluster.tool(
                Stream.concat(Stream.of("kubectl"), Stream.of(arguments)).toArray(String[]::new));
    }

    @Test
    void kubectlTaintIsAnOverrideForTheFaultThatWasRemoved() {
        // Given
        Scene scene = Scene.TAINT_COMMAND;
        fault(scene, 0);

        // When
        kubectl("taint", "node", scene.node(), KEY + "-");

        // Then
        awaitOverrideBy(scene, "kubectl-taint");

        // When another GPU fails
        fault(scene, 1);

        // Then
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(override(scene)).isEmpty());
    }

    @Test
    void kubectlEditIsAnOverride() throws IOException, InterruptedException {
        // Given
        Scene scene = Scene.EDIT_COMMAND;
        Path editor = Files.writeString(dir.resolve("editor"), EDITOR);
        assertThat(editor.toFile().setExecutable(true)).isTrue();
        fault(scene, 0);

        // When
        var edit = new ProcessBuilder(RealCluster.executable(), "kubectl", "edit", "node", scene.node())
                .redirectErrorStream(true);
        edit.environment().put("KUBE_EDITOR", editor.toString());
        Process process = edit.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        // Then
        assertThat(process.waitFor()).as(output).isZero();
        awaitOverrideBy(scene, "kubectl-edit");
    }

    @Test
    void controlPlaneThatRemovesItsOwnTaintAfterwardsDoesNotHideThePerson() {
        // Given
        Scene scene = Scene.TAINT_THEN_UNCORDON;
        kubectl("cordon", scene.node());
        await().atMost(TIMEOUT).until(() -> taints(scene.node()).contains("node.kubernetes.io/unschedulable"));
        fault(scene, 0);

        // When
        kubectl("taint", "node", scene.node(), KEY + "-");
        kubectl("uncordon", scene.node());

        // Then
        await().atMost(TIMEOUT).until(() -> settled(scene.node()));
        assertThat(writerOfTaints(scene)).isEqualTo("kube-controller-manager");
        awaitOverrideBy(scene, "kubectl-taint");
    }

    @Test
    void wipesOfControllersAreRepairedThreeTimesAndThenReported() {
        // Given a controller known by its user agent, and one that names itself
        Config config = new ConfigBuilder(admin().getConfiguration())
                .withUserAgent("sweeper/1.0")
                .build();
        try (var sweeper = new KubernetesClientBuilder().withConfig(config).build()) {
            Map<Scene, Consumer<Node>> wipes = Map.of(
                    Scene.UPDATE_BY_CONTROLLER,
                    node -> sweeper.resource(node).update(),
                    Scene.PATCH_BY_CONTROLLER,
                    node -> merge(node.getMetadata().getName(), ONLY_SIMULATED));
            wipes.keySet().forEach(scene -> fault(scene, 0));

            // When, Then
            for (int repair = 0; repair < REPAIRS; repair++) {
                wipes.forEach(TaintRemovalClusterIT::wipe);
                wipes.keySet().forEach(scene -> await().atMost(TIMEOUT).until(() -> tainted(scene.node())));
            }
            wipes.forEach(TaintRemovalClusterIT::wipe);
        }
        awaitReportOf(Scene.UPDATE_BY_CONTROLLER, "sweeper");
        awaitReportOf(Scene.PATCH_BY_CONTROLLER, "taint-janitor");
    }

    /** Writes the list with the taint of the simulation alone; again where the Node changed meanwhile. */
    private static void wipe(Scene scene, Consumer<Node> write) {
        await().atMost(TIMEOUT)
                .ignoreExceptionsMatching(
                        failed -> failed instanceof KubernetesClientException refused && refused.getCode() == 409)
                .until(() -> {
                    Node node = admin().nodes().withName(scene.node()).require();
                    node.getSpec().getTaints().removeIf(taint -> !taint.getKey().equals(SIMULATED));
                    write.accept(node);
                    return true;
                });
    }

    /** A patch of a controller that names itself. */
    private static void merge(String node, String patch) {
        var context = new PatchContext.Builder()
                .withPatchType(PatchType.JSON_MERGE)
                .withFieldManager("taint-janitor")
                .build();
        admin().resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .endMetadata()
                        .build())
                .patch(context, patch);
    }

    private static void awaitReportOf(Scene scene, String manager) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(TestedHealthService.why(service, scene.node())
                                .getJsonObject("desired", new JsonObject())
                                .getString("outcome", ""))
                        .contains("applied again 3 times", "field manager " + manager));
        assertThat(tainted(scene.node())).isFalse();
        assertThat(override(scene)).isEmpty();
        assertThat(new NodeFields(admin()).eventReasons(scene.node())).contains("TaintRemovedByController");
    }

    @Test
    void wipeThatLeavesNoTaintCountsAsManualSinceKubernetesDoesNotTellWhoMadeIt() {
        // Given
        Scene scene = Scene.LAST_TAINT;
        fault(scene, 0);

        // When
        merge(scene.node(), "{\"spec\":{\"taints\":null}}");

        // Then
        assertThat(writerOfTaints(scene)).isEmpty();
        awaitOverrideBy(scene, "unknown");
    }

    private static String writerOfTaints(Scene scene) {
        List<ManagedFieldsEntry> entries =
                admin().nodes().withName(scene.node()).require().getMetadata().getManagedFields();
        return entries.stream()
                .filter(entry -> entry.getFieldsV1().getAdditionalProperties().get("f:spec") instanceof Map<?, ?> spec
                        && spec.containsKey("f:taints"))
                .map(ManagedFieldsEntry::getManager)
                .findFirst()
                .orElse("");
    }
}
