package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.allocation.model.scheduling.SelectorRequirement;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Maps Pod objects of fabric8 to the model. PodJsonMapper of the webhook maps the same fields from JSON: only this
 * package may use fabric8.
 */
final class PodMapper {
    private static final Set<String> TERMINAL_PHASES = Set.of("Succeeded", "Failed");
    /** Label of the pods of a Deployment; other controllers of ReplicaSets have labels of their own. */
    private static final String TEMPLATE_HASH = "pod-template-hash";

    private PodMapper() {}

    /** True when a container of the pod requests a resource that is a GPU or may become known as one. */
    static boolean mayRequestGpus(Pod pod) {
        return pod.getSpec() != null && GpuResources.requestsExtended(containers(pod));
    }

    static ObservedPod observed(Pod pod, boolean deleted) {
        String phase = phase(pod);
        return new ObservedPod(
                gpuPod(pod),
                phase,
                finishedAt(pod, deleted || TERMINAL_PHASES.contains(phase)).orElse(null),
                owner(pod),
                orEmpty(pod.getMetadata().getLabels()));
    }

    static GpuPod gpuPod(Pod pod) {
        return new GpuPod(
                text(pod.getMetadata().getNamespace()),
                text(pod.getMetadata().getName()),
                text(pod.getMetadata().getGenerateName()),
                text(pod.getMetadata().getUid()),
                true,
                countsUntil(pod),
                constraints(pod),
                containers(pod));
    }

    /** As ResourceQuota counts: not once it is terminal, nor once its grace period is over, whether a node says so or not. */
    private static Instant countsUntil(Pod pod) {
        if (TERMINAL_PHASES.contains(phase(pod))) {
            return Instant.MIN;
        }
        Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
        return time(pod.getMetadata().getDeletionTimestamp())
                .map(deleted -> deleted.plusSeconds(grace == null ? 0 : grace))
                .orElse(Instant.MAX);
    }

    private static String phase(Pod pod) {
        return pod.getStatus() == null ? "" : text(pod.getStatus().getPhase());
    }

    private static SchedulingConstraints constraints(Pod pod) {
        List<SchedulingConstraints.NodeSelectorTerm> terms = new ArrayList<>();
        Affinity affinity = pod.getSpec().getAffinity();
        if (affinity != null
                && affinity.getNodeAffinity() != null
                && affinity.getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution() != null) {
            affinity.getNodeAffinity()
                    .getRequiredDuringSchedulingIgnoredDuringExecution()
                    .getNodeSelectorTerms()
                    .forEach(term -> terms.add(new SchedulingConstraints.NodeSelectorTerm(
                            requirements(term.getMatchExpressions()), requirements(term.getMatchFields()))));
        }
        return new SchedulingConstraints(
                orEmpty(pod.getSpec().getNodeSelector()),
                terms,
                text(pod.getSpec().getNodeName()));
    }

    private static List<SelectorRequirement> requirements(@Nullable List<NodeSelectorRequirement> found) {
        return found == null
                ? List.of()
                : found.stream()
                        .map(one -> new SelectorRequirement(
                                text(one.getKey()),
                                SelectorRequirement.Operator.of(text(one.getOperator())),
                                one.getValues() == null ? List.of() : one.getValues()))
                        .toList();
    }

    private static List<ContainerResources> containers(Pod pod) {
        List<ContainerResources> containers = new ArrayList<>();
        if (pod.getSpec().getInitContainers() != null) {
            pod.getSpec()
                    .getInitContainers()
                    .forEach(container -> containers.add(container(
                            container,
                            "Always".equals(container.getRestartPolicy())
                                    ? ContainerResources.ContainerType.SIDECAR
                                    : ContainerResources.ContainerType.INIT)));
        }
        pod.getSpec()
                .getContainers()
                .forEach(container -> containers.add(container(container, ContainerResources.ContainerType.APP)));
        return containers;
    }

    private static ContainerResources container(Container container, ContainerResources.ContainerType kind) {
        var resources = container.getResources();
        return new ContainerResources(
                text(container.getName()),
                kind,
                resources == null ? Map.of() : texts(resources.getRequests()),
                resources == null ? Map.of() : texts(resources.getLimits()));
    }

    /** Amounts of resources with a domain: processors and memory are most of what pods request, and no GPU. */
    static Map<String, Quantity> withoutNative(@Nullable Map<String, Quantity> amounts) {
        Map<String, Quantity> others = new TreeMap<>(orEmpty(amounts));
        others.keySet().removeIf(name -> name.indexOf('/') < 0);
        return others;
    }

    private static Map<String, String> texts(@Nullable Map<String, Quantity> amounts) {
        Map<String, String> texts = new TreeMap<>();
        withoutNative(amounts).forEach((name, amount) -> texts.put(name, amount.toString()));
        return texts;
    }

    /** Latest end of the containers of a finished pod, if all of them ended and one ever ran. */
    private static Optional<Instant> finishedAt(Pod pod, boolean finished) {
        if (!finished || pod.getStatus() == null) {
            return Optional.empty();
        }
        List<Instant> ends = new ArrayList<>();
        for (ContainerStatus status : Stream.of(
                        pod.getStatus().getContainerStatuses(), pod.getStatus().getInitContainerStatuses())
                .filter(list -> list != null)
                .flatMap(List::stream)
                .toList()) {
            ContainerState state = status.getState();
            if (state != null && state.getRunning() != null) {
                return Optional.empty();
            }
            if (state != null && state.getTerminated() != null) {
                time(state.getTerminated().getFinishedAt()).ifPresent(ends::add);
            }
        }
        return ends.stream().max(Comparator.naturalOrder());
    }

    private static Optional<Instant> time(@Nullable String text) {
        try {
            return text == null ? Optional.empty() : Optional.of(Instant.parse(text));
        } catch (DateTimeException unreadable) {
            return Optional.empty();
        }
    }

    private static String owner(Pod pod) {
        List<OwnerReference> owners = pod.getMetadata().getOwnerReferences();
        return owners == null
                ? ""
                : owners.stream()
                        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                        .map(owner -> deployment(
                                        owner, orEmpty(pod.getMetadata().getLabels()))
                                .orElseGet(() -> owner.getKind() + "/" + owner.getName()))
                        .findFirst()
                        .orElse("");
    }

    /** A Deployment names its ReplicaSets by its own name and the hash, by which it labels their pods: no read is needed. */
    private static Optional<String> deployment(OwnerReference owner, Map<String, String> labels) {
        String suffix = "-" + labels.getOrDefault(TEMPLATE_HASH, "");
        String name = text(owner.getName());
        return "ReplicaSet".equals(owner.getKind())
                        && text(owner.getApiVersion()).startsWith("apps/")
                        && suffix.length() > 1
                        && name.endsWith(suffix)
                        && name.length() > suffix.length()
                ? Optional.of("Deployment/" + name.substring(0, name.length() - suffix.length()))
                : Optional.empty();
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static <V> Map<String, V> orEmpty(@Nullable Map<String, V> map) {
        return map == null ? Map.of() : map;
    }
}
