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
import io.gpufleet.allocation.model.quota.ContainerAsk;
import io.gpufleet.allocation.model.quota.GpuResource;
import io.gpufleet.allocation.model.quota.Placement;
import io.gpufleet.allocation.model.quota.PodAsk;
import io.gpufleet.allocation.model.quota.Requirement;
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

/** A Pod object as the rest of the program knows it. */
final class PodReader {
    private static final Set<String> OVER = Set.of("Succeeded", "Failed");

    private PodReader() {}

    /** True when a container of it asks for GPUs. */
    static boolean asksForGpus(Pod pod) {
        return containers(pod).stream()
                .anyMatch(container -> Stream.concat(
                                container.limits().keySet().stream(), container.requests().keySet().stream())
                        .anyMatch(GpuResource::is));
    }

    static ObservedPod observed(Pod pod, boolean deleted) {
        String phase = phase(pod);
        return new ObservedPod(
                ask(pod),
                phase,
                finishedAt(pod, deleted || OVER.contains(phase)).orElse(null),
                owner(pod),
                orEmpty(pod.getMetadata().getLabels()));
    }

    static PodAsk ask(Pod pod) {
        return new PodAsk(
                text(pod.getMetadata().getNamespace()),
                text(pod.getMetadata().getName()),
                text(pod.getMetadata().getGenerateName()),
                text(pod.getMetadata().getUid()),
                true,
                OVER.contains(phase(pod)),
                placement(pod),
                containers(pod));
    }

    private static String phase(Pod pod) {
        return pod.getStatus() == null ? "" : text(pod.getStatus().getPhase());
    }

    private static Placement placement(Pod pod) {
        List<Placement.Term> terms = new ArrayList<>();
        Affinity affinity = pod.getSpec().getAffinity();
        if (affinity != null
                && affinity.getNodeAffinity() != null
                && affinity.getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution() != null) {
            affinity.getNodeAffinity()
                    .getRequiredDuringSchedulingIgnoredDuringExecution()
                    .getNodeSelectorTerms()
                    .forEach(term -> terms.add(new Placement.Term(
                            requirements(term.getMatchExpressions()), requirements(term.getMatchFields()))));
        }
        return new Placement(
                orEmpty(pod.getSpec().getNodeSelector()),
                terms,
                text(pod.getSpec().getNodeName()));
    }

    private static List<Requirement> requirements(@Nullable List<NodeSelectorRequirement> found) {
        return found == null
                ? List.of()
                : found.stream()
                        .map(one -> new Requirement(
                                text(one.getKey()),
                                Requirement.Operator.of(text(one.getOperator())),
                                one.getValues() == null ? List.of() : one.getValues()))
                        .toList();
    }

    private static List<ContainerAsk> containers(Pod pod) {
        List<ContainerAsk> containers = new ArrayList<>();
        if (pod.getSpec().getInitContainers() != null) {
            pod.getSpec()
                    .getInitContainers()
                    .forEach(container -> containers.add(container(
                            container,
                            "Always".equals(container.getRestartPolicy())
                                    ? ContainerAsk.Kind.SIDECAR
                                    : ContainerAsk.Kind.INIT)));
        }
        pod.getSpec().getContainers().forEach(container -> containers.add(container(container, ContainerAsk.Kind.APP)));
        return containers;
    }

    private static ContainerAsk container(Container container, ContainerAsk.Kind kind) {
        var resources = container.getResources();
        return new ContainerAsk(
                text(container.getName()),
                kind,
                resources == null ? Map.of() : texts(resources.getRequests()),
                resources == null ? Map.of() : texts(resources.getLimits()));
    }

    private static Map<String, String> texts(@Nullable Map<String, Quantity> amounts) {
        Map<String, String> texts = new TreeMap<>();
        orEmpty(amounts).forEach((name, amount) -> texts.put(name, amount.toString()));
        return texts;
    }

    /** Once the pod is over: the latest end of its containers, if all of them have ended and one ever ran. */
    private static Optional<Instant> finishedAt(Pod pod, boolean over) {
        if (!over || pod.getStatus() == null) {
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
                        .map(owner -> owner.getKind() + "/" + owner.getName())
                        .findFirst()
                        .orElse("");
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static <V> Map<String, V> orEmpty(@Nullable Map<String, V> map) {
        return map == null ? Map.of() : map;
    }
}
