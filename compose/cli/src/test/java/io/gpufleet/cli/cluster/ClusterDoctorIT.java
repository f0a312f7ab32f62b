package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the doctor says of installations that do not work. */
class ClusterDoctorIT {
    private static final String WORKLOAD = """
            apiVersion: %1$s
            kind: %2$s
            metadata: {name: %3$s, namespace: %4$s}
            spec:
              template:
                spec:
                  containers: [{name: main, image: "gpufleet/main:1"}]
            """;

    @TempDir
    private Path directory;

    private FakeApiServer api;
    private KubernetesClient client;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        File kubeconfig = api.kubeconfig(directory.resolve("kubeconfig")).toFile();
        client = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(kubeconfig))
                .build();
        List.of("gpufleet-system", "gpufleet-node").forEach(namespace -> create("""
                apiVersion: v1
                kind: Namespace
                metadata: {name: %s}
                """.formatted(namespace), "{}"));
    }

    @AfterEach
    void close() {
        client.close();
        api.close();
    }

    @Test
    void emptyClusterLacksEveryPart() {
        assertThat(findings())
                .extracting(Finding::subject, Finding::level)
                .contains(
                        tuple("GpuQuota", Finding.Level.FAIL),
                        tuple("health-service", Finding.Level.FAIL),
                        tuple("node-daemon", Finding.Level.FAIL),
                        tuple("quota webhook", Finding.Level.FAIL));
    }

    @ParameterizedTest
    @CsvSource({"0, 0, FAIL", "3, 0, FAIL", "3, 2, WARN", "3, 3, OK"})
    void daemonsFailWhereNoneIsReady(int wanted, int ready, Finding.Level level) {
        daemons(wanted, wanted, ready);

        assertThat(finding("node-daemon").level()).isEqualTo(level);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            unable to validate against any security context constraint: [provider "anyuid"]                  | ../../platforms/openshift
            pods "node-daemon-x" is forbidden: violates PodSecurity "restricted:latest": privileged          | pod-security.kubernetes.io/enforce
            pods "node-daemon-x" is forbidden: exceeded quota: critical-pods, requested: pods=1, used: pods=2 | -n gpufleet-node get resourcequotas
            pods "node-daemon-x" is forbidden: insufficient quota to match these scopes: [PriorityClass]     | -n gpufleet-node get resourcequotas
            admission webhook "images.example.com" denied the request: unsigned                              | -n gpufleet-node describe DaemonSet/node-daemon
            """)
    void refusedPodsAreNamedWithTheReasonAndARemedy(String reason, String remedy) {
        daemons(3, 0, 0);
        refused("gpufleet-node", "DaemonSet", "node-daemon", "2026-01-01T00:00:00Z", "an older reason");
        refused("gpufleet-node", "DaemonSet", "node-daemon", "2026-01-01T00:01:00Z", "Error creating: " + reason);

        Finding finding = finding("DaemonSet/node-daemon");

        assertThat(finding.level()).isEqualTo(Finding.Level.FAIL);
        assertThat(finding.text()).contains(reason).doesNotContain("older");
        assertThat(finding.remedy()).contains(remedy);
    }

    @Test
    void refusalsOfStatefulSetsAndOfTheJobCountWhileTheyLackPods() {
        statefulSet("health-service", 1);
        statefulSet("inventory-service", 2);
        create(WORKLOAD.formatted("batch/v1", "Job", "topics", "gpufleet-system"), "{\"status\":{\"failed\":0}}");
        for (String owner : List.of("health-service", "inventory-service", "allocation-service")) {
            refused("gpufleet-system", "StatefulSet", owner, "2026-01-01T00:00:00Z", "no");
        }
        refused("gpufleet-system", "Job", "topics", "2026-01-01T00:00:00Z", "no");

        // What has its pods again, or is gone, is well; its Event is not over yet
        assertThat(findings())
                .extracting(Finding::subject)
                .contains("StatefulSet/health-service", "Job/topics")
                .doesNotContain("StatefulSet/inventory-service", "StatefulSet/allocation-service");
    }

    @Test
    void resourceQuotaOfLimitsOfGpusLimitsNothing() {
        create("""
                apiVersion: v1
                kind: ResourceQuota
                metadata: {name: gpus, namespace: default}
                spec: {hard: {limits.nvidia.com/gpu: "4", requests.nvidia.com/gpu: "8", limits.cpu: "16"}}
                """, "{}");

        Finding finding = finding("ResourceQuota default/gpus");

        assertThat(finding.level()).isEqualTo(Finding.Level.WARN);
        assertThat(finding.text()).startsWith("limits.nvidia.com/gpu limits nothing");
        assertThat(finding.remedy()).contains("requests.nvidia.com/gpu", "GpuQuota");
        assertThat(findings())
                .filteredOn(each -> each.subject().startsWith("ResourceQuota"))
                .hasSize(1);
    }

    private List<Finding> findings() {
        return new ClusterDoctor(client).examine();
    }

    private Finding finding(String subject) {
        return findings().stream()
                .filter(finding -> finding.subject().equals(subject))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no finding about " + subject + ": " + findings()));
    }

    private void daemons(int wanted, int present, int ready) {
        create(
                WORKLOAD.formatted("apps/v1", "DaemonSet", "node-daemon", "gpufleet-node"),
                "{\"status\":{\"desiredNumberScheduled\":%d,\"currentNumberScheduled\":%d,\"numberReady\":%d}}"
                        .formatted(wanted, present, ready));
    }

    private void statefulSet(String name, int present) {
        create(
                WORKLOAD.formatted("apps/v1", "StatefulSet", name, "gpufleet-system") + "  replicas: 2\n",
                "{\"status\":{\"replicas\":%1$d,\"readyReplicas\":%1$d}}".formatted(present));
    }

    private void refused(String namespace, String kind, String owner, String time, String message) {
        create("""
                apiVersion: v1
                kind: Event
                metadata: {generateName: "refused-", namespace: %1$s}
                involvedObject: {kind: %2$s, name: %3$s, namespace: %1$s}
                reason: FailedCreate
                lastTimestamp: "%4$s"
                message: '%5$s'
                """.formatted(namespace, kind, owner, time, message), "{}");
    }

    private void create(String yaml, String status) {
        HasMetadata created = client.resource(
                        client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
                                .items()
                                .getFirst())
                .create();
        if (!status.equals("{}")) {
            client.resource(created).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), status);
        }
    }
}
