package io.gpufleet.health.model.drain;

import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import java.time.Duration;
import java.util.List;

/**
 * How nodes are drained.
 *
 * @param times notice, deadline and interval
 * @param onDeadline what happens to pods that are still there at the deadline
 * @param nodes so many nodes are drained at once
 * @param namespaces patterns of the namespaces from which pods may be evicted; {@code *} stands for any text
 * @param exclude patterns of namespaces from which no pod is evicted
 * @param windows in which a drain may begin; one that has begun goes on
 */
public record DrainSettings(
        Times times,
        OnDeadline onDeadline,
        int nodes,
        List<String> namespaces,
        List<String> exclude,
        MaintenanceWindows windows) {
    private static final Duration LONGEST = Duration.ofDays(7);

    /** Five minutes of notice, an hour of patience, one node of a job in half an hour, two nodes at once. */
    public static final DrainSettings DEFAULT = new DrainSettings(
            new Times(Duration.ofMinutes(5), Duration.ofHours(1), Duration.ofMinutes(30)),
            OnDeadline.WAIT,
            2,
            List.of("*"),
            List.of("kube-system", "gpufleet-*"),
            MaintenanceWindows.ANY_TIME);

    /**
     * Times of a drain.
     *
     * @param notice from the notice of a pod to its eviction, so that its job can write a checkpoint
     * @param deadline from the begin of the drain, after which {@link OnDeadline} applies
     * @param jobInterval time after the drain of one node of a job before the next one of its nodes
     */
    public record Times(Duration notice, Duration deadline, Duration jobInterval) {}

    /** Action at the deadline. */
    public enum OnDeadline {
        /** Evictions are asked for until they are allowed. */
        WAIT,
        /** The pods are deleted, also against a PodDisruptionBudget. */
        DELETE
    }

    /** Rejects what cannot work. */
    public DrainSettings {
        namespaces = List.copyOf(namespaces);
        exclude = List.copyOf(exclude);
        for (Duration time : List.of(times.notice(), times.deadline(), times.jobInterval())) {
            if (time.isNegative() || time.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("drain takes times from PT0S to P7D, not " + time);
            }
        }
        if (times.deadline().compareTo(times.notice()) < 0) {
            throw new IllegalArgumentException(
                    "drain takes a deadline of at least the notice of " + times.notice() + ", not " + times.deadline());
        }
        if (nodes < 1) {
            throw new IllegalArgumentException("drain takes nodes from 1, not " + nodes);
        }
    }

    /** True when pods of this namespace may be evicted. */
    public boolean mayEvictFrom(String namespace) {
        return namespaces.stream().anyMatch(pattern -> matches(pattern, namespace))
                && exclude.stream().noneMatch(pattern -> matches(pattern, namespace));
    }

    /** Without a regular expression, which a pattern of an operator could make slow. */
    private static boolean matches(String pattern, String name) {
        int star = pattern.indexOf('*');
        if (star < 0) {
            return pattern.equals(name);
        }
        String rest = pattern.substring(star + 1);
        if (!name.startsWith(pattern.substring(0, star))) {
            return false;
        }
        for (int from = star; from <= name.length(); from++) {
            if (matches(rest, name.substring(from))) {
                return true;
            }
        }
        return false;
    }
}
