package io.gpufleet.testbed.fakeapiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * A change of the store.
 *
 * @param revision revision of the write
 * @param kind kind of the change
 * @param object the object after the change; for a deletion its last state with the revision of the deletion
 * @param previous the object before the change; none for an addition
 */
public record ObjectChange(
        long revision,
        ChangeType kind,
        ObjectNode object,
        @Nullable ObjectNode previous) {
    /** The kinds of a change; the names are those of watch events. */
    public enum ChangeType {
        ADDED,
        MODIFIED,
        DELETED
    }
}
