package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Examines an installation: what runs, what does not and why, and which settings do not fit the cluster. */
public final class ClusterDoctor {
    private static final String SERVICES = "gpufleet-system";
    private static final String NODES = "gpufleet-node";
    private static final String LIMITS_OF_GPUS = "limits.nvidia.com/";

    private final KubernetesClient client;

    /** Reads by {@code client} only. */
    public ClusterDoctor(KubernetesClient client) {
        this.client = client;
    }

    /** All findings, in the order in which an installation comes up. */
    public List<Finding> examine() {
        var findings = new ArrayList<Finding>();
        findings.add(definition());
        for (String service : List.of("inventory-service", "health-service", "allocation-service")) {
            findings.add(service(service));
        }
        findings.addAll(daemons());
        var refused = new RefusedPods(client);
        findings.addAll(refused.find(SERVICES));
        findings.addAll(refused.find(NODES));
        findings.addAll(troubledPods());
        findings.add(webhook());
        mode().ifPresent(findings::add);
        findings.addAll(resourceQuotas());
        return List.copyOf(findings);
    }

    private Finding definition() {
        return client.apiextensions()
                                .v1()
                                .customResourceDefinitions()
                                .withName("gpuquotas.gpufleet.io")
                                .get()
                        == null
                ? Finding.fail("GpuQuota", "has no definition", "kubectl apply -k k8s/base/crds")
                : Finding.ok("GpuQuota", "defined");
    }

    private Finding service(String name) {
        StatefulSet set = client.apps()
                .statefulSets()
                .inNamespace(SERVICES)
                .withName(name)
                .get();
        if (set == null) {
            return Finding.fail(name, "is not installed", "kubectl apply -k of your overlay");
        }
        int wanted = Optional.ofNullable(set.getSpec().getReplicas()).orElse(1);
        int ready = Optional.ofNullable(set.getStatus().getReadyReplicas()).orElse(0);
        String text = ready + " of " + wanted + " replicas ready";
        return ready == 0
                ? Finding.fail(name, text, "its pods are listed below")
                : ready < wanted || wanted == 1
                        ? Finding.warn(name, text, "no other replica takes over when one fails")
                        : Finding.ok(name, text);
    }

    private List<Finding> daemons() {
        DaemonSet set = client.apps()
                .daemonSets()
                .inNamespace(NODES)
                .withName("node-daemon")
                .get();
        if (set == null) {
            return List.of(Finding.fail("node-daemon", "is not installed", "kubectl apply -k of your overlay"));
        }
        int wanted = set.getStatus().getDesiredNumberScheduled();
        int ready = set.getStatus().getNumberReady();
        var findings = new ArrayList<Finding>();
        findings.add(daemons(wanted, ready));
        String strategy = setting(NODES, set.getSpec().getTemplate(), "GPUFLEET_DEVICE_LIST_STRATEGY")
                .orElse("envvar");
        runtimes().forEach((runtime, nodes) -> findings.add(DeviceListStrategyCheck.check(runtime, strategy, nodes)));
        return findings;
    }

    private static Finding daemons(int wanted, int ready) {
        if (wanted == 0) {
            return Finding.fail("node-daemon", "no node is selected", "check its nodeSelector and affinity");
        }
        String text = ready + " of " + wanted + " nodes ready";
        if (ready == 0) {
            return Finding.fail("node-daemon", text, "its pods are listed below");
        }
        return ready < wanted
                ? Finding.warn("node-daemon", text, "its pods are listed below")
                : Finding.ok("node-daemon", text);
    }

    /** A setting of the first container, from the ConfigMaps that it reads. */
    private Optional<String> setting(String namespace, PodTemplateSpec pods, String name) {
        return pods.getSpec().getContainers().getFirst().getEnvFrom().stream()
                .map(EnvFromSource::getConfigMapRef)
                .filter(Objects::nonNull)
                .map(ref -> client.configMaps()
                        .inNamespace(namespace)
                        .withName(ref.getName())
                        .get())
                .filter(Objects::nonNull)
                .map(ConfigMap::getData)
                .flatMap(data -> Stream.ofNullable(data == null ? null : data.get(name)))
                .findFirst();
    }

    /** Nodes with a daemon by container runtime. */
    private Map<String, Integer> runtimes() {
        Map<String, String> byName = new HashMap<>();
        NodePages.forEach(
                client.nodes()::list,
                node -> byName.put(
                        node.getMetadata().getName(),
                        node.getStatus().getNodeInfo().getContainerRuntimeVersion()));
        return pods(NODES)
                .flatMap(pod -> Stream.ofNullable(byName.get(
                        Optional.ofNullable(pod.getSpec().getNodeName()).orElse(""))))
                .collect(Collectors.toMap(runtime -> runtime, _ -> 1, Integer::sum, TreeMap::new));
    }

    private Stream<Pod> pods(String namespace) {
        return client
                .pods()
                .inNamespace(namespace)
                .withLabel("app.kubernetes.io/part-of", "gpufleet")
                .list()
                .getItems()
                .stream();
    }

    private List<Finding> troubledPods() {
        return Stream.concat(pods(SERVICES), pods(NODES))
                .filter(pod -> !"Succeeded".equals(pod.getStatus().getPhase()))
                .flatMap(pod -> trouble(pod).stream()
                        .map(text -> Finding.warn(
                                pod.getMetadata().getName(),
                                text,
                                "kubectl -n " + pod.getMetadata().getNamespace() + " describe pod "
                                        + pod.getMetadata().getName())))
                .toList();
    }

    private static Optional<String> trouble(Pod pod) {
        List<ContainerStatus> statuses = pod.getStatus().getContainerStatuses();
        if (statuses.isEmpty()) {
            return pod.getStatus().getConditions().stream()
                    .filter(condition -> "False".equals(condition.getStatus()) && condition.getMessage() != null)
                    .map(condition -> condition.getReason() + ": " + condition.getMessage())
                    .findFirst();
        }
        ContainerStatus status = statuses.getFirst();
        if (status.getState() != null && status.getState().getWaiting() != null) {
            return Optional.of(status.getState().getWaiting().getReason());
        }
        return status.getReady() ? Optional.empty() : Optional.of("not ready, restarts: " + status.getRestartCount());
    }

    private Finding webhook() {
        var configuration = client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .get();
        if (configuration == null) {
            return Finding.fail("quota webhook", "is not installed", "kubectl apply -k of your overlay");
        }
        boolean enforced =
                configuration.getWebhooks().stream().anyMatch(webhook -> "Fail".equals(webhook.getFailurePolicy()));
        return enforced
                ? Finding.ok("quota webhook", "enforced")
                : Finding.warn(
                        "quota webhook",
                        "not enforced yet: no replica of the allocation-service has been ready",
                        "pods are admitted meanwhile; it is enforced by itself");
    }

    /** Nothing where there is no health-service, which is a finding of its own. */
    private Optional<Finding> mode() {
        return Optional.ofNullable(client.apps()
                        .statefulSets()
                        .inNamespace(SERVICES)
                        .withName("health-service")
                        .get())
                .map(set -> setting(SERVICES, set.getSpec().getTemplate(), "GPUFLEET_MODE")
                                .filter("enforce"::equals)
                                .isPresent()
                        ? Finding.ok("mode", "enforce")
                        : Finding.warn(
                                "mode",
                                "observe: faults are recorded, nothing is withdrawn or tainted",
                                "health-service/README.md leads from observe to enforce"));
    }

    /** Kubernetes counts extended resources by requests only; a limit of this name never refuses a pod. */
    private List<Finding> resourceQuotas() {
        return client.resourceQuotas().inAnyNamespace().list().getItems().stream()
                .flatMap(quota -> Optional.ofNullable(quota.getSpec().getHard()).orElse(Map.of()).keySet().stream()
                        .filter(key -> key.startsWith(LIMITS_OF_GPUS))
                        .map(key -> Finding.warn(
                                "ResourceQuota " + quota.getMetadata().getNamespace() + "/"
                                        + quota.getMetadata().getName(),
                                key + " limits nothing: Kubernetes counts this resource by requests",
                                "write requests." + key.substring("limits.".length()) + ", or a GpuQuota")))
                .toList();
    }
}
