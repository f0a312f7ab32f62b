package io.gpufleet.cli.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.NamedObjects;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A release of the chart on a real API server, over its life. Its images exist nowhere, so that nothing of it runs: what runs are
 * the manifests of the base, with which {@code HelmChartTest} compares it.
 */
class HelmReleaseClusterIT {
    private static final String CHART = Repository.module("k8s/helm/gpufleet").toString();
    private static final String RELEASE = "gpufleet";
    private static final String[] VALUES = {
        "--set", "image.repository=registry.invalid/gpufleet",
        "--set", "settings.gpufleet.GPUFLEET_CLUSTER=example",
        "--set", "settings.gpufleet.GPUFLEET_KAFKA=kafka.example.internal:9092"
    };

    private static RealCluster cluster;

    @BeforeAll
    static void open() {
        cluster = RealCluster.open();
    }

    @AfterAll
    static void close() {
        cluster.close();
    }

    @AfterEach
    void uninstall() {
        tryHelm("uninstall", RELEASE, "--ignore-not-found", "--wait");
    }

    @Test
    void releaseIsInstalledUpgradedRolledBackAndLeavesNothing() {
        // Given that the definition of quotas is there: the chart brings it and leaves it
        Kubectl.run("apply", "-k", Repository.module("k8s/base/crds").toString());
        NamedObjects before = NamedObjects.now(cluster.client());

        // When
        helm("install", RELEASE, CHART, VALUES);

        // Then
        assertThat(names("statefulsets", Installation.SERVICES))
                .containsExactlyInAnyOrder("inventory-service", "health-service", "allocation-service");
        assertThat(names("daemonsets", Installation.NODES)).containsExactly("node-daemon");
        assertThat(mode()).isEqualTo("observe");
        assertThat(NamedObjects.now(cluster.client()).since(before))
                .contains("ValidatingWebhookConfiguration gpufleet-quota");

        // When, with objects such as the Job of the topics that no server lets change
        helm("upgrade", RELEASE, CHART, "--reuse-values", "--set", "settings.health-service.GPUFLEET_MODE=enforce");

        // Then
        assertThat(mode()).isEqualTo("enforce");
        assertThat(names("jobs", Installation.SERVICES)).containsExactly("topics-2");

        // When
        helm("rollback", RELEASE, "1");

        // Then
        assertThat(mode()).isEqualTo("observe");

        // When
        helm("uninstall", RELEASE, "--wait");

        // Then
        // The definition of quotas stays: with it each quota would go
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(
                        () -> assertThat(NamedObjects.now(cluster.client())).isEqualTo(before));
    }

    private static String mode() {
        String name = names("configmaps", Installation.SERVICES).stream()
                .filter(one -> one.startsWith("health-service"))
                .findFirst()
                .orElseThrow();
        return Kubectl.run(
                "get", "configmap", name, "-n", Installation.SERVICES, "-o", "jsonpath={.data.GPUFLEET_MODE}");
    }

    private static List<String> names(String kind, String namespace) {
        return Kubectl.run("get", kind, "-n", namespace, "-o", "name")
                .lines()
                .map(line -> line.substring(line.indexOf('/') + 1))
                .toList();
    }

    private static void helm(String command, String release, String chart, String... values) {
        var arguments = new ArrayList<>(List.of(command, release, chart));
        arguments.addAll(List.of(values));
        CommandOutput output = tryHelm(arguments.toArray(String[]::new));
        assertThat(output.status()).as(output.text()).isZero();
    }

    private static CommandOutput tryHelm(String... arguments) {
        var command = new ArrayList<>(List.of("helm"));
        command.addAll(List.of(arguments));
        command.addAll(List.of(
                "--namespace",
                "default",
                "--kubeconfig",
                RealCluster.kubeconfig().toString()));
        return Manifests.run(command.toArray(String[]::new));
    }
}
