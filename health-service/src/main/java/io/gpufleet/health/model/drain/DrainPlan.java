package io.gpufleet.health.model.drain;

import io.gpufleet.health.model.drain.DrainSettings.OnDeadline;
import io.gpufleet.health.model.drain.PodOnNode.Kind;
import io.gpufleet.health.model.drain.PodOnNode.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Actions on each pod that an order concerns.
 *
 * @param steps one for each of these pods
 * @param holdersKnown false while it is not known who holds the devices, so that nobody is evicted
 */
public record DrainPlan(List<PodDrainAction> steps, boolean holdersKnown) {
    private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

    /** Copies the list. */
    public DrainPlan {
        steps = List.copyOf(steps);
    }

    /** The plan for the pods of a node as they are now. */
    public static DrainPlan of(
            DrainOrder order,
            DrainProgress progress,
            Holdings holdings,
            List<PodOnNode> pods,
            DrainSettings settings,
            Instant now) {
        boolean known = order.wholeNode() || holdings.complete();
        List<PodOnNode> concerned = pods.stream()
                .filter(pod -> pod.phase() != Phase.ENDED)
                .filter(pod -> known && concerns(order, holdings, pod))
                .toList();
        return new DrainPlan(
                concerned.stream()
                        .map(pod -> step(pod, progress, settings, now))
                        .toList(),
                known);
    }

    private static boolean concerns(DrainOrder order, Holdings holdings, PodOnNode pod) {
        return switch (order.mode()) {
            case NONE -> false;
            case ALL -> true;
            case GPU_PODS ->
                order.wholeNode()
                        ? pod.requestsGpu() || holdings.holdsAny(pod.name())
                        : holdings.holds(pod.name(), order.devices());
        };
    }

    private static PodDrainAction step(PodOnNode pod, DrainProgress progress, DrainSettings settings, Instant now) {
        if (pod.kind() == Kind.DAEMON_SET) {
            return new PodDrainAction.Leave(pod, "a DaemonSet keeps it here");
        }
        if (pod.kind() == Kind.MIRROR) {
            return new PodDrainAction.Leave(pod, "the kubelet keeps it here");
        }
        if (!settings.mayEvictFrom(pod.name().namespace())) {
            return new PodDrainAction.Leave(pod, "its namespace is excluded");
        }
        if (pod.phase() == Phase.ENDING) {
            return new PodDrainAction.Wait(pod, now.plus(RETRY_AFTER));
        }
        if (!progress.active() || (!pod.job().isEmpty() && !progress.jobs().contains(pod.job()))) {
            return new PodDrainAction.AskForJob(pod);
        }
        return evict(pod, progress, settings, now);
    }

    private static PodDrainAction evict(PodOnNode pod, DrainProgress progress, DrainSettings settings, Instant now) {
        if (pod.eviction().isEmpty()) {
            return new PodDrainAction.Notify(pod, now.plus(settings.times().notice()));
        }
        Instant at = pod.eviction().get();
        // A notice that promises more than the policy grants, as one of a person, does not hold a drain up.
        Instant latest = now.plus(settings.times().notice());
        if (now.isBefore(at) && !latest.isBefore(at)) {
            return new PodDrainAction.Wait(pod, at);
        }
        boolean late = !now.isBefore(progress.since().plus(settings.times().deadline()));
        return late && settings.onDeadline() == OnDeadline.DELETE
                ? new PodDrainAction.Delete(pod)
                : new PodDrainAction.Evict(pod);
    }

    /** Jobs of which a pod would have to leave and that are not allowed to lose one here yet. */
    public Set<String> jobsToAskFor() {
        return steps.stream()
                .filter(PodDrainAction.AskForJob.class::isInstance)
                .map(step -> step.pod().job())
                .filter(job -> !job.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Pods that still have to leave. */
    public List<PodDrainAction> remaining() {
        return steps.stream()
                .filter(step -> !(step instanceof PodDrainAction.Leave))
                .toList();
    }

    /** True when nobody has to leave any more. */
    public boolean done() {
        return holdersKnown && remaining().isEmpty();
    }
}
