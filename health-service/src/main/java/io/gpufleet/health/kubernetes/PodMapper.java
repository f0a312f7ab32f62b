package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpufleet.health.model.drain.PodOnNode;
import io.gpufleet.health.model.drain.PodOnNode.Kind;
import io.gpufleet.health.model.drain.PodOnNode.Phase;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Maps pods to {@link PodOnNode}. */
final class PodMapper {
    /** Time of the eviction in the notice of a pod, RFC 3339. */
    static final String EVICTION_AT = "gpufleet.io/eviction-at";

    private static final String MIRROR = "kubernetes.io/config.mirror";
    private static final String GPU_RESOURCES = "nvidia.com/";

    /** Labels that name the job of a pod, and its kind; the outermost object first. */
    private static final List<Map.Entry<String, String>> JOB_LABELS = List.of(
            Map.entry("jobset.sigs.k8s.io/jobset-name", "JobSet"),
            Map.entry("leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"),
            Map.entry("training.kubeflow.org/job-name", "TrainingJob"),
            Map.entry("ray.io/cluster", "RayCluster"),
            Map.entry("batch.kubernetes.io/job-name", "Job"),
            Map.entry("job-name", "Job"));

    /** Controllers whose pods do not depend on each other: PodDisruptionBudgets are for them. */
    private static final Set<String> NO_JOBS = Set.of("ReplicaSet", "DaemonSet", "Node", "ReplicationController");

    private PodMapper() {}

    static PodOnNode toModel(Pod pod) {
        ObjectMeta metadata = pod.getMetadata();
        Map<String, String> annotations = orEmpty(metadata.getAnnotations());
        Optional<OwnerReference> controller =
                Objects.requireNonNullElse(metadata.getOwnerReferences(), List.<OwnerReference>of()).stream()
                        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                        .findFirst();
        Kind kind = annotations.containsKey(MIRROR)
                ? Kind.MIRROR
                : controller
                                .filter(owner -> owner.getKind().equals("DaemonSet"))
                                .isPresent()
                        ? Kind.DAEMON_SET
                        : Kind.OTHER;
        return new PodOnNode(
                new PodName(metadata.getNamespace(), metadata.getName(), metadata.getUid()),
                job(metadata, controller)
                        .map(job -> metadata.getNamespace() + "/" + job)
                        .orElse(""),
                kind,
                phase(pod),
                pod.getSpec().getContainers().stream().anyMatch(PodMapper::requestsGpu),
                time(annotations.get(EVICTION_AT)));
    }

    private static Optional<String> job(ObjectMeta metadata, Optional<OwnerReference> controller) {
        Map<String, String> labels = orEmpty(metadata.getLabels());
        return JOB_LABELS.stream()
                .filter(label -> labels.containsKey(label.getKey()))
                .map(label -> label.getValue() + "/" + labels.get(label.getKey()))
                .findFirst()
                .or(() -> controller
                        .filter(owner -> !NO_JOBS.contains(owner.getKind()))
                        .map(owner -> owner.getKind() + "/" + owner.getName()));
    }

    private static Phase phase(Pod pod) {
        String phase = pod.getStatus() == null
                ? ""
                : Objects.requireNonNullElse(pod.getStatus().getPhase(), "");
        if (phase.equals("Succeeded") || phase.equals("Failed")) {
            return Phase.ENDED;
        }
        return pod.getMetadata().getDeletionTimestamp() == null ? Phase.LIVE : Phase.ENDING;
    }

    private static boolean requestsGpu(Container container) {
        return container.getResources() != null
                && (anyGpu(container.getResources().getLimits())
                        || anyGpu(container.getResources().getRequests()));
    }

    private static boolean anyGpu(@Nullable Map<String, ?> resources) {
        return resources != null && resources.keySet().stream().anyMatch(name -> name.startsWith(GPU_RESOURCES));
    }

    /** A notice that cannot be read is none. */
    private static @Nullable Instant time(@Nullable String text) {
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeParseException unreadable) {
            return null;
        }
    }

    private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
        return map == null ? Map.of() : map;
    }
}
