package io.gpufleet.inventory.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Node object of a node as last observed.
 *
 * @param uid UID, empty while there is no object
 * @param settings as last published, null until the object was observed
 * @param labelConflicts label keys owned by another field manager, sorted
 */
public record NodeObjectState(String uid, @Nullable NodeSettings settings, List<String> labelConflicts) {
    /** No Node object was observed. */
    public static final NodeObjectState ABSENT = new NodeObjectState("", null, List.of());

    /** Copies the list. */
    public NodeObjectState {
        labelConflicts = List.copyOf(labelConflicts);
    }
}
