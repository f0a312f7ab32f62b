package io.gpufleet.health.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Reference to a Node object.
 *
 * @param name name of the node, the key on every topic
 * @param uid UID of the Node object; empty while unknown
 * @param goneSince set while the Node object is deleted: append time of its deletion, or of the newest event of the
 *     daemon since
 */
public record NodeReference(
        String name, String uid, @Nullable Instant goneSince) {
    /** An object that exists, as far as is known. */
    public NodeReference(String name, String uid) {
        this(name, uid, null);
    }

    /** True for the same object, deleted or not. */
    boolean sameObject(NodeReference other) {
        return name.equals(other.name) && uid.equals(other.uid);
    }
}
