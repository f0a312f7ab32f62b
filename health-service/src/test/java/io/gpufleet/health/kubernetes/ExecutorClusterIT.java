package io.gpufleet.health.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpufleet.health.app.remediation.RemediationClient.Found;
import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.Remediation.Target;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ready-made executor on the API server of GPUFLEET_TEST_KUBECONFIG, as a ServiceAccount with its ClusterRole and what its README
 * asks for beside; its template makes a ConfigMap.
 */
class ExecutorClusterIT {
    private static final String NODE = "gpufleet-it-executor";
    private static final String COMPONENT = "k8s/components/remediation/";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Instant LATER = Instant.parse("2035-01-01T00:00:00Z");

    private static final String TEMPLATE = """
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: "@NAME@", namespace: default, labels: {gpufleet.io/it: executor}}
            data: {node: "@NODE@", uuids: '@UUIDS@'}
            """;

    private static ManifestRights rights;
    private static KubernetesClient admin;
    private static KubernetesRemediationClient service;

    @TempDir
    private Path directory;

    private String uid = "";

    @BeforeAll
    static void open() throws IOException {
        rights = ManifestRights.grantRole(
                NODE,
                COMPONENT + "rbac.yaml",
                "gpufleet-remediation-executor",
                List.of(
                        rule("", "nodes", "get"),
                        rule("", "configmaps", "create"),
                        rule("batch", "jobs", "create", "get")));
        admin = rights.admin();
        service = new KubernetesRemediationClient(admin);
        rights.install(COMPONENT + "crd.yaml");
        // The API server learns of a role by a watch of its own.
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> remediations(rights.limited()).list() != null
                        && rights.limited().nodes().withName(NODE).get() == null);
    }

    private static PolicyRule rule(String group, String resource, String... verbs) {
        return new PolicyRuleBuilder()
                .withApiGroups(group)
                .withResources(resource)
                .withVerbs(verbs)
                .build();
    }

    private static MixedOperation<
                    GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>>
            remediations(KubernetesClient client) {
        return client.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuRemediation");
    }

    @AfterAll
    static void close() {
        rights.close();
    }

    @BeforeEach
    void prepare() throws IOException {
        Files.writeString(Files.createDirectory(directory.resolve("templates")).resolve("reset-gpu.yaml"), TEMPLATE);
        Path kubectl = Files.writeString(
                Files.createDirectory(directory.resolve("bin")).resolve("kubectl"),
                "#!/bin/sh\nexec " + RealCluster.executable() + " kubectl --kubeconfig "
                        + rights.kubeconfig(directory.resolve("kubeconfig")) + " \"$@\"\n");
        assertThat(kubectl.toFile().setExecutable(true)).isTrue();
        uid = admin.nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NODE)
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoSchedule", "gpufleet.io/it", null, "executor")
                        .endSpec()
                        .withNewStatus()
                        .endStatus()
                        .build())
                .create()
                .getMetadata()
                .getUid();
        // Without a version: controllers write a new Node at the same time.
        admin.nodes()
                .withName(NODE)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"nodeInfo\":{\"bootID\":\"boot-1\"}}}");
    }

    @AfterEach
    void remove() {
        admin.configMaps()
                .inNamespace("default")
                .withLabel("gpufleet.io/it", "executor")
                .delete();
        admin.nodes().withName(NODE).delete();
        await().atMost(TIMEOUT).until(() -> admin.nodes().withName(NODE).get() == null);
    }

    private Remediation requested(String bootId, Instant deadline) {
        return requested(RecommendedAction.RESET_GPU, bootId, deadline);
    }

    private Remediation requested(RecommendedAction action, String bootId, Instant deadline) {
        var remediation = new Remediation(
                new Target(uid, bootId, List.of(new RemediatedDevice("GPU-1", ""), new RemediatedDevice("GPU-2", ""))),
                action,
                "xid-95",
                1,
                deadline,
                List.of("event-1"));
        await().atMost(TIMEOUT).until(() -> service.create(NODE, remediation) instanceof Found);
        return remediation;
    }

    private Process executor(String name) throws IOException {
        var builder = new ProcessBuilder(
                        "bash",
                        Repository.module(COMPONENT + "executors/executor.sh").toString(),
                        directory.resolve("templates").toString(),
                        name)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name).toFile());
        builder.environment().put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        builder.environment().put("GPUFLEET_EXECUTOR_ONCE", "true");
        return builder.start();
    }

    private void runOnce(String name) throws IOException, InterruptedException {
        int status = executor(name).waitFor();
        assertThat(status).as(Files.readString(directory.resolve(name), UTF_8)).isZero();
    }

    private static Found found(Remediation remediation) {
        return (Found) service.find(remediation);
    }

    @Test
    void theExecutorHasNoOtherRightsThanThoseOfItsRole() throws IOException, InterruptedException {
        assertThat(kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"))
                .isEqualTo("system:serviceaccount:default:" + NODE);
        assertThat(kubectl("auth", "can-i", "create", "gpuremediations")).startsWith("no");
        assertThat(kubectl("auth", "can-i", "patch", "nodes")).startsWith("no");
    }

    private String kubectl(String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(directory.resolve("bin/kubectl").toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        var _ = process.waitFor();
        return output;
    }

    @Test
    void oneOfTwoExecutorsCarriesItOut() throws IOException, InterruptedException {
        Remediation remediation = requested("boot-1", LATER);

        Process one = executor("one");
        Process two = executor("two");
        assertThat(one.waitFor()).isZero();
        assertThat(two.waitFor()).isZero();

        assertThat(found(remediation).phase()).isEqualTo(ObjectPhase.RUNNING);
        assertThat(found(remediation).executor()).isIn("one", "two");
        assertThat(admin.configMaps()
                        .inNamespace("default")
                        .withName(remediation.name())
                        .get()
                        .getData())
                .containsEntry("node", NODE)
                .containsEntry("uuids", "[\"GPU-1\",\"GPU-2\"]");
    }

    private void left(Remediation remediation, String phase, String message, Instant startedAt) {
        remediations(admin)
                .withName(remediation.name())
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"status\":{\"phase\":\"%s\",\"claimedBy\":\"one\",\"message\":\"%s\",\"startedAt\":\"%s\"}}"
                                .formatted(phase, message, startedAt.truncatedTo(ChronoUnit.SECONDS)));
    }

    private long created() {
        return admin.configMaps()
                .inNamespace("default")
                .withLabel("gpufleet.io/it", "executor")
                .list()
                .getItems()
                .size();
    }

    @Test
    void anExecutorThatDiedAfterItsClaimGoesOnOnceItIsBack() throws IOException, InterruptedException {
        Remediation remediation = requested("boot-1", LATER);
        left(remediation, "Claimed", "", Instant.now());

        runOnce("two");
        assertThat(created()).as("it is not the claim of two").isZero();

        runOnce("one");
        assertThat(found(remediation))
                .extracting(Found::phase, Found::message)
                .containsExactly(ObjectPhase.RUNNING, "created by reset-gpu.yaml");
        assertThat(created()).isOne();
    }

    @Test
    void anExecutorThatDiedWhileItCreatedCreatesNothingTwice() throws IOException, InterruptedException {
        Remediation remediation = requested("boot-1", LATER);
        runOnce("one");
        left(remediation, "Running", "creates reset-gpu.yaml", Instant.now());

        runOnce("one");

        assertThat(found(remediation).message()).isEqualTo("created by reset-gpu.yaml");
        assertThat(created()).isOne();
    }

    @Test
    void aBeginOfLongAgoIsNotRepeated() throws IOException, InterruptedException {
        Remediation remediation = requested("boot-1", LATER);
        left(remediation, "Running", "creates reset-gpu.yaml", Instant.now().minus(Duration.ofHours(2)));

        runOnce("one");

        assertThat(created()).isZero();
    }

    @Test
    void nothingIsDoneInAnotherBoot() throws IOException, InterruptedException {
        Remediation remediation = requested("boot-0", LATER);

        runOnce("one");

        assertThat(found(remediation))
                .extracting(Found::phase, Found::message)
                .containsExactly(ObjectPhase.FAILED, "the node was recreated or rebooted");
    }

    @Test
    void nothingIsDoneAfterTheDeadline() throws IOException, InterruptedException {
        Remediation remediation = requested("boot-1", Instant.parse("2020-01-01T00:00:00Z"));

        runOnce("one");

        assertThat(found(remediation))
                .extracting(Found::phase, Found::message)
                .containsExactly(ObjectPhase.FAILED, "its deadline 2020-01-01T00:00:00Z is over");
    }

    @Test
    void whatCannotBeCreatedIsGivenUpWithTheAnswerOfTheServer() throws IOException, InterruptedException {
        Files.writeString(
                directory.resolve("templates/reset-gpu.yaml"), TEMPLATE.replace("default", "gpufleet-it-none"));
        Remediation remediation = requested("boot-1", LATER);

        runOnce("one");

        assertThat(found(remediation).phase()).isEqualTo(ObjectPhase.FAILED);
        assertThat(found(remediation).message()).contains("gpufleet-it-none not found");
    }

    @ParameterizedTest
    @CsvSource({"exit 0, SUCCEEDED, its Job completed", "exit 1, FAILED, its Job failed"})
    void theEndOfItsJobIsTheResultOfAValidation(String test, ObjectPhase phase, String message) throws IOException {
        // Given a template whose Job the real kubelet runs
        var pod = RealCluster.pod("default", "any", 0, test);
        Files.writeString(
                directory.resolve("templates/validate.yaml"), """
                apiVersion: batch/v1
                kind: Job
                metadata: {name: "@NAME@", namespace: default, labels: {gpufleet.io/it: executor}}
                spec:
                  backoffLimit: 0
                  template:
                    spec: %s
                """.formatted(Serialization.asJson(pod.getSpec())));
        Remediation remediation = requested(RecommendedAction.VALIDATE, "boot-1", LATER);
        try {
            // When
            await().atMost(TIMEOUT).until(() -> {
                runOnce("one");
                return found(remediation).phase() != ObjectPhase.RUNNING;
            });
            // Then
            assertThat(found(remediation))
                    .extracting(Found::phase, Found::executor, Found::message)
                    .containsExactly(phase, "one", message);
        } finally {
            admin.batch()
                    .v1()
                    .jobs()
                    .inNamespace("default")
                    .withName(remediation.name())
                    .delete();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"reset-gpu", "validate"})
    void theServerAcceptsTheJobOfTheTemplate(String action) throws IOException {
        String job = Files.readString(Repository.module(COMPONENT + "executors/job/" + action + ".yaml"))
                .replace("gpufleet-remediation", "default")
                .replace("@NAME@", NODE)
                .replace("@NODE@", NODE)
                .replace("@UUIDS@", "[\"GPU-1\"]");

        assertThat(admin.batch()
                        .v1()
                        .jobs()
                        .inNamespace("default")
                        .load(new ByteArrayInputStream(job.getBytes(UTF_8)))
                        .dryRun()
                        .create()
                        .getSpec()
                        .getBackoffLimit())
                .isZero();
    }
}
