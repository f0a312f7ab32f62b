package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What every manifest of k8s/ has in common. */
class ManifestsTest {
    private static final String VERSION = "0.1.0";

    private final Map<String, PodSpec> pods = pods();

    @Test
    void servicesOfTheNamespaceSetNoVariables() {
        assertThat(pods)
                .isNotEmpty()
                .allSatisfy((file, pod) ->
                        assertThat(pod.getEnableServiceLinks()).as(file).isFalse());
    }

    @Test
    void podsTolerateTheTaintsOfGpufleet() {
        assertThat(pods).allSatisfy((file, pod) -> {
            for (String key : List.of("gpufleet.io/unhealthy", "nvidia.com/gpu")) {
                assertThat(pod.getTolerations())
                        .as(file + " " + key)
                        .anyMatch(toleration -> toleratesEveryEffect(toleration, key));
            }
        });
    }

    private static boolean toleratesEveryEffect(Toleration toleration, String key) {
        return "Exists".equals(toleration.getOperator())
                && toleration.getEffect() == null
                && (toleration.getKey() == null || toleration.getKey().equals(key));
    }

    @Test
    void imagesAreOfThisVersion() {
        assertThat(pods)
                .allSatisfy((file, pod) -> assertThat(pod.getContainers())
                        .filteredOn(container -> container.getImage().startsWith("gpufleet/"))
                        .extracting(Container::getImage)
                        .as(file)
                        .allMatch(image -> image.endsWith(":" + VERSION)));
    }

    /** Its rules are taken away and given back one by one by the test beside its name. */
    @Test
    void everyRoleHasATestOfItsRules() {
        List<String> roles = manifests().stream()
                .flatMap(file -> objects(file).stream())
                .filter(object -> object instanceof Role || object instanceof ClusterRole)
                .map(object -> object.getMetadata().getName())
                .toList();

        assertThat(roles)
                .containsExactlyInAnyOrder(
                        "allocation-service", // RightsClusterIT of the service
                        "gpufleet-allocation-service",
                        "health-service",
                        "gpufleet-health-service",
                        "gpufleet-health-service-drain",
                        "gpufleet-health-service-remediation",
                        "inventory-service",
                        "gpufleet-inventory-service",
                        "gpufleet-purge", // PurgeRightsClusterIT
                        "gpufleet-remediation-executor", // ExecutorClusterIT
                        "gpufleet-viewer", // AccessRolesClusterIT
                        "gpufleet-accounting",
                        "gpufleet-operator");
    }

    @Test
    void slowStartIsNoReasonToRestart() {
        assertThat(serving()).hasSizeGreaterThanOrEqualTo(4).allSatisfy(container -> {
            assertThat(container.getStartupProbe()).as(container.getName()).isNotNull();
            Probe startup = container.getStartupProbe();
            assertThat(startup.getPeriodSeconds() * startup.getFailureThreshold())
                    .as(container.getName())
                    .isGreaterThanOrEqualTo(120);
            for (Probe probe : List.of(startup, container.getLivenessProbe(), container.getReadinessProbe())) {
                assertThat(probe.getTimeoutSeconds()).as(container.getName()).isGreaterThanOrEqualTo(3);
            }
        });
    }

    @Test
    void programsReadTheirOwnConfigMapBesidesTheSharedOne() {
        assertThat(serving())
                .allSatisfy(container -> assertThat(container.getEnvFrom())
                        .extracting(source -> source.getConfigMapRef().getName())
                        .containsExactly("gpufleet", container.getName()));
    }

    @Test
    void definitionsAreNotDeletedWithTheBase() throws IOException {
        assertThat(Files.readString(Repository.module("k8s/base/kustomization.yaml")))
                .doesNotContain("- crds");
    }

    private List<Container> serving() {
        return pods.values().stream()
                .flatMap(pod -> pod.getContainers().stream())
                .filter(container -> container.getReadinessProbe() != null)
                .toList();
    }

    private static Map<String, PodSpec> pods() {
        var pods = new TreeMap<String, PodSpec>();
        for (Path file : manifests()) {
            for (HasMetadata object : objects(file)) {
                String name = object.getKind() + "/" + object.getMetadata().getName();
                switch (object) {
                    case StatefulSet set ->
                        pods.put(name, set.getSpec().getTemplate().getSpec());
                    case DaemonSet set ->
                        pods.put(name, set.getSpec().getTemplate().getSpec());
                    case Job job -> pods.put(name, job.getSpec().getTemplate().getSpec());
                    default -> {}
                }
            }
        }
        return pods;
    }

    private static List<HasMetadata> objects(Path file) {
        try (var in = Files.newInputStream(file)) {
            Object parsed = new KubernetesSerialization().unmarshal(in);
            var objects = new ArrayList<HasMetadata>();
            for (Object each : parsed instanceof Collection<?> several ? several : List.of(parsed)) {
                if (each instanceof HasMetadata object) {
                    objects.add(object);
                }
            }
            return objects;
        } catch (IOException failed) {
            throw new AssertionError(file + " cannot be read", failed);
        }
    }

    private static List<Path> manifests() {
        try (Stream<Path> files = Files.walk(Repository.module("k8s"))) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .filter(file -> !file.endsWith("kustomization.yaml"))
                    // Templates of what an executor creates, with places for values; ExecutorClusterIT fills them.
                    .filter(file -> !file.startsWith(Repository.module("k8s/components/remediation/executors")))
                    // The chart is compared with the manifests by HelmChartTest.
                    .filter(file -> !file.startsWith(Repository.module("k8s/helm")))
                    .toList();
        } catch (IOException failed) {
            throw new AssertionError("k8s cannot be read", failed);
        }
    }
}
