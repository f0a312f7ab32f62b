package io.gpufleet.health.model.drain;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A pod as far as its eviction depends on it.
 *
 * @param name namespace, name and UID
 * @param job kind and name of the job it belongs to, for example {@code team/Job/train-7}; empty when it belongs to none
 * @param kind who keeps it running
 * @param phase whether it is ended or ending
 * @param requestsGpu true when a container requests a GPU resource
 * @param evictionAt time of its eviction in the notice that it got; null before the notice
 */
public record PodOnNode(
        PodName name,
        String job,
        Kind kind,
        Phase phase,
        boolean requestsGpu,
        @Nullable Instant evictionAt) {
    /** Namespace, name and UID of a pod; the UID is empty while unknown. */
    public record PodName(String namespace, String name, String uid) {
        /** True when both may be the same pod. */
        boolean matches(PodName other) {
            return namespace.equals(other.namespace)
                    && name.equals(other.name)
                    && (uid.isEmpty() || other.uid.isEmpty() || uid.equals(other.uid));
        }

        /** Namespace and name. */
        public String text() {
            return namespace + "/" + name;
        }
    }

    /** Controller that keeps a pod running. */
    public enum Kind {
        /** A DaemonSet, which would start it again on the same node. */
        DAEMON_SET,
        /** The kubelet; the API has a mirror of it only. */
        MIRROR,
        /** Anything else, or nobody. */
        OTHER
    }

    /** Whether a pod runs. */
    public enum Phase {
        /** Pending or running. */
        LIVE,
        /** Deleted, and not gone yet. */
        ENDING,
        /** Succeeded or failed. */
        ENDED
    }

    /** Time of its eviction; empty before it got a notice. */
    public Optional<Instant> eviction() {
        return Optional.ofNullable(evictionAt);
    }
}
