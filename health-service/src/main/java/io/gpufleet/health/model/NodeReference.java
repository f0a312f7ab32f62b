package io.gpufleet.health.model;

import io.gpufleet.health.model.presence.Presence;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reference to a Node object.
 *
 * @param name name of the node, the key on every topic
 * @param uid UID of the Node object; empty while unknown
 * @param goneSince set while the Node object is deleted: append time of its deletion, or of the newest event of the
 *     daemon since
 * @param placement where it is and whether it can be used
 * @param presence whether it is heard
 */
public record NodeReference(
        String name, String uid, @Nullable Instant goneSince, Placement placement, Presence presence) {
    /** Label by which a Node opts out of everything, with the value {@code false}. */
    public static final String MANAGED = "gpufleet.io/managed";

    /**
     * Fields of the Node object that budgets need.
     *
     * @param labels that decide about pool and zone
     * @param usable true when it is ready and schedulable; what was not observed cannot be used
     * @param observed false before it was observed
     * @param ready false while its condition Ready is there and is not True
     */
    public record Placement(Map<String, String> labels, boolean usable, boolean observed, boolean ready) {
        /** Before the Node object was observed. */
        public static final Placement UNKNOWN = new Placement(Map.of(), false, false, true);

        /** As it was observed, ready. */
        public Placement(Map<String, String> labels, boolean usable) {
            this(labels, usable, true, true);
        }

        /** Copies the labels. */
        public Placement {
            labels = Map.copyOf(labels);
        }

        /** True when its label says that gpufleet leaves it alone. */
        boolean optedOut() {
            return "false".equals(labels.get(MANAGED));
        }
    }

    /** An object that exists, as far as is known. */
    public NodeReference(String name, String uid) {
        this(name, uid, null, Placement.UNKNOWN, Presence.HEARD);
    }

    NodeReference withUid(String newUid) {
        return new NodeReference(name, newUid, null, placement, presence);
    }

    NodeReference gone(Instant since) {
        return new NodeReference(name, uid, since, placement, presence);
    }

    NodeReference with(Placement newPlacement) {
        return new NodeReference(name, uid, goneSince, newPlacement, presence);
    }

    NodeReference with(Presence newPresence) {
        return new NodeReference(name, uid, goneSince, placement, newPresence);
    }

    /** True when there is no Node object, as far as is known. */
    public boolean absent() {
        return goneSince != null || uid.isEmpty();
    }

    /** True for the same object, deleted or not. */
    boolean sameObject(NodeReference other) {
        return name.equals(other.name) && uid.equals(other.uid);
    }
}
