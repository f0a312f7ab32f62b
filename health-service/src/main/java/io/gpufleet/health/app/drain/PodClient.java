package io.gpufleet.health.app.drain;

import io.gpufleet.health.model.drain.PodOnNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Port: the pods of Kubernetes. Every method blocks, none throws. */
public interface PodClient {
    /** Pods of a node, as the API server has them now. */
    PodList onNode(String node);

    /** Writes the time of its eviction to the pod, and an Event about it. */
    PodResponse giveNotice(PodOnNode pod, Instant evictionAt, String message);

    /** Removes the notice from the pod. */
    PodResponse withdrawNotice(PodOnNode pod);

    /** Asks for its eviction, which a PodDisruptionBudget may refuse. */
    PodResponse evict(PodOnNode pod);

    /** Deletes the pod. */
    PodResponse delete(PodOnNode pod);

    /** Answer to a list. */
    sealed interface PodList {
        /** The pods. */
        record Listed(List<PodOnNode> pods) implements PodList {
            /** Copies the list. */
            public Listed {
                pods = List.copyOf(pods);
            }
        }

        /** There is no answer, or a refusal; one line. */
        record Unlisted(String reason) implements PodList {}
    }

    /** Answer to a change. */
    sealed interface PodResponse {
        /** It is done. */
        record Done() implements PodResponse {}

        /** There is no such pod any more. */
        record Gone() implements PodResponse {}

        /** A PodDisruptionBudget does not allow it now; one line, and how long to wait as far as the server says. */
        record Blocked(String reason, Optional<Duration> retryAfter) implements PodResponse {}

        /** There is no answer, or a refusal; one line. */
        record Failed(String reason) implements PodResponse {}

        /** No call was made, or it was given up, since the lease is not held. */
        record LeaseEnded() implements PodResponse {}
    }
}
