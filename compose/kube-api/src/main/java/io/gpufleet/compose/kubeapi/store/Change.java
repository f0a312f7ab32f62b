package io.gpufleet.compose.kubeapi.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * One write that was carried out.
 *
 * @param revision its place in the order of all writes
 * @param kind what it did
 * @param object the object after it; for a removal the last state, carrying the revision of the removal
 * @param previous the object before it; none for an addition
 */
public record Change(
        long revision,
        Kind kind,
        ObjectNode object,
        @Nullable ObjectNode previous) {
    /** The kinds of a change; the names are those of watch events. */
    public enum Kind {
        ADDED,
        MODIFIED,
        DELETED
    }
}
