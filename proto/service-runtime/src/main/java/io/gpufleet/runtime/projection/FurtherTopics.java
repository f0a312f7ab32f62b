package io.gpufleet.runtime.projection;

import io.gpufleet.wire.Topic;
import java.util.Set;

/**
 * Topics that a service uses beside its projection: a missing one, or right to one, is a reason not to be ready.
 *
 * @param sent written to by a sender
 * @param followed read by a follower, in no group
 */
public record FurtherTopics(Set<Topic> sent, Set<Topic> followed) {
    /** A service that reads and writes by its projection alone. */
    public static final FurtherTopics NONE = new FurtherTopics(Set.of(), Set.of());

    /** Keeps copies. */
    public FurtherTopics {
        sent = Set.copyOf(sent);
        followed = Set.copyOf(followed);
    }
}
