package io.gpufleet.testbed.fakeapiserver.apply;

import io.gpufleet.testbed.fakeapiserver.type.ResourceType;

/**
 * A field manager with its operation: the key of an entry of managedFields.
 *
 * @param name of the field manager
 * @param operation {@code Apply} or {@code Update}
 * @param subresource empty for the object itself
 * @param apiVersion API version of the write
 */
public record FieldOwner(String name, String operation, String subresource, String apiVersion) {
    /** A manager that updates or patches. */
    public static FieldOwner forUpdate(String name, String subresource, ResourceType type) {
        return new FieldOwner(name, "Update", subresource, type.apiVersion());
    }

    /** A manager that applies. */
    public static FieldOwner forApply(String name, String subresource, ResourceType type) {
        return new FieldOwner(name, "Apply", subresource, type.apiVersion());
    }

    boolean isApply() {
        return operation.equals("Apply");
    }

    /** The form in conflict messages. */
    String describe(String time) {
        String who = "\"" + name + "\"" + (subresource.isEmpty() ? "" : " with subresource \"" + subresource + "\"");
        if (isApply()) {
            return who;
        }
        return who + " using " + apiVersion + (time.isEmpty() ? "" : " at " + time);
    }
}
