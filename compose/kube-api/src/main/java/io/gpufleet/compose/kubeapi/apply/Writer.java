package io.gpufleet.compose.kubeapi.apply;

import io.gpufleet.compose.kubeapi.type.ResourceType;

/**
 * Who writes, and how; one entry of managedFields.
 *
 * @param name of the field manager
 * @param operation {@code Apply} or {@code Update}
 * @param subresource empty for the object itself
 * @param apiVersion version that is written in
 */
public record Writer(String name, String operation, String subresource, String apiVersion) {
    /** Somebody who updates or patches. */
    public static Writer updating(String name, String subresource, ResourceType type) {
        return new Writer(name, "Update", subresource, type.apiVersion());
    }

    /** Somebody who applies. */
    public static Writer applying(String name, String subresource, ResourceType type) {
        return new Writer(name, "Apply", subresource, type.apiVersion());
    }

    boolean applies() {
        return operation.equals("Apply");
    }

    /** As conflicts name it. */
    String text(String time) {
        String who = "\"" + name + "\"" + (subresource.isEmpty() ? "" : " with subresource \"" + subresource + "\"");
        if (applies()) {
            return who;
        }
        return who + " using " + apiVersion + (time.isEmpty() ? "" : " at " + time);
    }
}
