package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What every manifest of k8s/ has in common. */
class ManifestsTest {
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
                .allSatisfy((file, pod) -> assertThat(
                                Stream.concat(pod.getContainers().stream(), pod.getInitContainers().stream()))
                        .filteredOn(container -> container.getImage().startsWith("gpufleet/"))
                        .extracting(Container::getImage)
                        .as(file)
                        .allMatch(image -> image.endsWith(":" + ManifestFiles.RELEASE)));
    }

    /** As {@code ./gpufleet images push} names them. */
    @Test
    void imagesThatAnOverlayRenamesAreOfThisVersionAndAllOfThem() {
        var images = new TreeMap<String, JsonNode>();
        ManifestFiles.kustomizations().forEach((file, kustomization) -> {
            if (kustomization.has("images")) {
                images.put(file.toString(), kustomization.path("images"));
            }
        });

        assertThat(images).hasSizeGreaterThanOrEqualTo(2).allSatisfy((file, renamed) -> {
            assertThat(renamed.findValuesAsText("newTag")).as(file).containsOnly(ManifestFiles.RELEASE);
            assertThat(renamed.findValuesAsText("name"))
                    .as(file)
                    .isSubsetOf(ManifestFiles.IMAGES)
                    .allSatisfy(name ->
                            assertThat(renamed.findValuesAsText("newName")).contains("registry.example/" + name));
        });
        assertThat(images.values())
                .anySatisfy(renamed -> assertThat(renamed.findValuesAsText("name"))
                        .containsExactlyInAnyOrderElementsOf(ManifestFiles.IMAGES));
    }

    @Test
    void daemonsRunOnLinuxOfBothArchitecturesATenthAtATime() {
        DaemonSet daemons = only(DaemonSet.class, "node-daemon");

        assertThat(daemons.getSpec().getUpdateStrategy().getRollingUpdate()).satisfies(update -> {
            assertThat(update.getMaxUnavailable().getStrVal()).isEqualTo("10%");
            assertThat(update.getMaxSurge().getIntVal()).isZero();
        });
        PodSpec pod = daemons.getSpec().getTemplate().getSpec();
        assertThat(pod.getNodeSelector()).containsEntry("kubernetes.io/os", "linux");
        assertThat(pod.getAffinity()
                        .getNodeAffinity()
                        .getRequiredDuringSchedulingIgnoredDuringExecution()
                        .getNodeSelectorTerms())
                .singleElement()
                .satisfies(term -> assertThat(term.getMatchExpressions()).anySatisfy(expression -> {
                    assertThat(expression.getKey()).isEqualTo("kubernetes.io/arch");
                    assertThat(expression.getValues()).containsExactly("amd64", "arm64");
                }));
    }

    @Test
    void replicasOfAServiceSpreadOverHostsAndOneAtATimeIsDrained() {
        for (String service : List.of("inventory-service", "health-service", "allocation-service")) {
            StatefulSet set = only(StatefulSet.class, service);
            Map<String, String> labels =
                    set.getSpec().getTemplate().getMetadata().getLabels();

            assertThat(set.getSpec().getTemplate().getSpec().getTopologySpreadConstraints())
                    .as(service)
                    .singleElement()
                    .satisfies(spread -> {
                        assertThat(spread.getTopologyKey()).isEqualTo("kubernetes.io/hostname");
                        assertThat(spread.getWhenUnsatisfiable()).isEqualTo("DoNotSchedule");
                        assertThat(spread.getMaxSkew()).isEqualTo(1);
                        assertThat(labels)
                                .containsAllEntriesOf(spread.getLabelSelector().getMatchLabels());
                    });
            assertThat(only(PodDisruptionBudget.class, service).getSpec()).satisfies(budget -> {
                assertThat(budget.getMaxUnavailable().getIntVal()).isEqualTo(1);
                assertThat(labels).containsAllEntriesOf(budget.getSelector().getMatchLabels());
            });
        }
    }

    @Test
    void programsOfTheBaseAreEvictedLast() {
        for (String service : List.of("inventory-service", "health-service", "allocation-service")) {
            assertThat(pods.get("StatefulSet/" + service))
                    .extracting(PodSpec::getPriorityClassName)
                    .isEqualTo("system-cluster-critical");
        }
        assertThat(pods.get("DaemonSet/node-daemon"))
                .extracting(PodSpec::getPriorityClassName)
                .isEqualTo("system-node-critical");
    }

    /** GKE admits pods of the classes {@code system-*} outside kube-system only within a quota of their namespace. */
    @ParameterizedTest
    @CsvSource({"services, system-cluster-critical", "node-daemon, system-node-critical"})
    void namespaceOfCriticalPodsHasAQuotaOfTheirPriorityClass(String part, String priorityClass) {
        // Its kustomization puts it into the namespace of the pods
        Path directory = Repository.module("k8s/base/" + part);
        JsonNode kustomization =
                Objects.requireNonNull(ManifestFiles.kustomizations().get(directory.resolve("kustomization.yaml")));
        assertThat(kustomization.path("namespace").asText()).isNotEmpty();
        assertThat(kustomization.path("resources"))
                .anyMatch(resource -> resource.asText().equals("namespace.yaml"));
        assertThat(ManifestFiles.objects(directory.resolve("namespace.yaml")))
                .filteredOn(ResourceQuota.class::isInstance)
                .singleElement(as(type(ResourceQuota.class)))
                .satisfies(quota -> {
                    assertThat(quota.getSpec().getHard()).containsOnlyKeys("pods");
                    assertThat(quota.getSpec().getScopeSelector().getMatchExpressions())
                            .singleElement()
                            .satisfies(expression -> {
                                assertThat(expression.getScopeName()).isEqualTo("PriorityClass");
                                assertThat(expression.getOperator()).isEqualTo("In");
                                assertThat(expression.getValues()).containsExactly(priorityClass);
                            });
                });
    }

    @Test
    void headlessServiceNamesTheReplicas() {
        for (String service : List.of("inventory-service", "health-service", "allocation-service")) {
            StatefulSet set = only(StatefulSet.class, service);
            Service governing = only(Service.class, set.getSpec().getServiceName());

            assertThat(governing.getSpec().getClusterIP()).as(service).isEqualTo("None");
            assertThat(governing.getSpec().getPublishNotReadyAddresses())
                    .as(service)
                    .isTrue();
            assertThat(set.getSpec().getTemplate().getMetadata().getLabels())
                    .as(service)
                    .containsAllEntriesOf(governing.getSpec().getSelector());
        }
    }

    @Test
    void heapOfAServiceFollowsItsLimitAndItsLackEndsTheProcess() {
        assertThat(serving())
                .filteredOn(container -> container.getName().endsWith("-service"))
                .hasSize(3)
                .allSatisfy(container -> assertThat(container.getEnv())
                        .filteredOn(variable -> variable.getName().equals("JAVA_FLAGS"))
                        .singleElement()
                        .extracting(EnvVar::getValue)
                        .asString()
                        .contains("-XX:MaxRAMPercentage=", "-XX:+ExitOnOutOfMemoryError"));
    }

    private static <T extends HasMetadata> T only(Class<T> kind, String name) {
        List<T> found = ManifestFiles.objects().stream()
                .filter(object -> object.getMetadata().getName().equals(name))
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
        assertThat(found).as(kind.getSimpleName() + " " + name).hasSize(1);
        return found.getFirst();
    }

    /** Its rules are taken away and given back one by one by the test beside its name. */
    @Test
    void everyRoleHasATestOfItsRules() {
        List<String> roles = ManifestFiles.objects().stream()
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

    /** The brokers' volumes and the topics are applied by themselves, and outlive what uses them. */
    @Test
    void kafkaIsNotDeletedWithAnOverlay() {
        ManifestFiles.kustomizations().forEach((file, kustomization) -> {
            if (!file.startsWith(Repository.module("k8s/kafka"))) {
                assertThat(kustomization.path("resources"))
                        .as(file.toString())
                        .noneMatch(resource -> resource.asText().contains("kafka"));
            }
        });
        assertThat(ManifestFiles.objects())
                .extracting(object -> object.getMetadata().getNamespace())
                .contains("kafka");
    }

    /** The standard {@code restricted} asks for the first and says nothing of the second. */
    @Test
    void programsWriteNothingIntoTheirImageAndServicesAreNotRoot() {
        pods.forEach((file, pod) -> assertThat(pod.getContainers())
                .filteredOn(container -> container.getImage().startsWith("gpufleet/"))
                .as(file)
                .allSatisfy(
                        container -> assertThat(container.getSecurityContext().getReadOnlyRootFilesystem())
                                .isTrue()));
        assertThat(pods.values())
                .filteredOn(pod -> pod.getContainers().stream()
                        .anyMatch(container -> container.getImage().endsWith("-service:" + ManifestFiles.RELEASE)))
                .hasSize(3)
                .allSatisfy(pod -> {
                    assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
                    assertThat(pod.getSecurityContext().getRunAsUser()).isPositive();
                });
    }

    /** What the daemon may do on its node, all of it. */
    @Test
    void daemonIsPrivilegedWithoutCredentialsOfKubernetes() {
        PodSpec pod = Objects.requireNonNull(pods.get("DaemonSet/node-daemon"));
        Container daemon = pod.getContainers().getFirst();

        assertThat(pod.getAutomountServiceAccountToken()).isFalse();
        assertThat(only(ServiceAccount.class, "node-daemon").getAutomountServiceAccountToken())
                .isFalse();
        assertThat(pod.getHostPID()).isTrue();
        assertThat(pod.getHostNetwork()).isNull();
        assertThat(pod.getHostIPC()).isNull();
        assertThat(pod.getContainers()).hasSize(1);
        assertThat(daemon.getSecurityContext().getPrivileged()).isTrue();
        Map<String, VolumeMount> mounts =
                daemon.getVolumeMounts().stream().collect(Collectors.toMap(VolumeMount::getName, Function.identity()));
        assertThat(pod.getVolumes().stream()
                        .filter(volume -> volume.getHostPath() != null)
                        .map(volume -> volume.getHostPath().getPath()
                                + (Boolean.TRUE.equals(
                                                mount(mounts, volume.getName()).getReadOnly())
                                        ? " ro"
                                        : "")))
                .containsExactlyInAnyOrder(
                        "/var/lib/kubelet/device-plugins",
                        "/var/lib/kubelet/plugins_registry",
                        "/var/lib/kubelet/pod-resources ro",
                        "/dev",
                        "/sys ro",
                        "/ ro",
                        "/var/run/cdi",
                        "/run/gpufleet",
                        "/var/lib/gpufleet");
    }

    private static VolumeMount mount(Map<String, VolumeMount> mounts, String volume) {
        return Objects.requireNonNull(mounts.get(volume), volume);
    }

    @Test
    void topicsHaveThreeReplicasUnlessAnOverlaySaysOtherwise() {
        JsonNode services = Objects.requireNonNull(
                ManifestFiles.kustomizations().get(Repository.module("k8s/base/services/kustomization.yaml")));

        assertThat(services.path("configMapGenerator"))
                .filteredOn(map -> map.path("name").asText().equals("topics"))
                .singleElement()
                .satisfies(topics -> assertThat(topics.path("literals"))
                        .extracting(JsonNode::asText)
                        .containsExactly("GPUFLEET_TOPIC_REPLICATION=3"));
    }

    private List<Container> serving() {
        return pods.values().stream()
                .flatMap(pod -> pod.getContainers().stream())
                .filter(container -> container.getReadinessProbe() != null)
                .toList();
    }

    private static Map<String, PodSpec> pods() {
        var pods = new TreeMap<String, PodSpec>();
        for (HasMetadata object : ManifestFiles.objects()) {
            String name = object.getKind() + "/" + object.getMetadata().getName();
            switch (object) {
                case StatefulSet set ->
                    pods.put(name, set.getSpec().getTemplate().getSpec());
                case DaemonSet set -> pods.put(name, set.getSpec().getTemplate().getSpec());
                case Deployment deployment ->
                    pods.put(name, deployment.getSpec().getTemplate().getSpec());
                case Job job -> pods.put(name, job.getSpec().getTemplate().getSpec());
                default -> {}
            }
        }
        return pods;
    }
}
