package io.gpufleet.testbed.fakeapiserver.object;

/**
 * A resource without its version: the key of a set of stored objects.
 *
 * @param group API group; empty for the core one
 * @param plural lower-case plural, as in the URL
 */
public record GroupResource(String group, String plural) {
    /** {@code nodes} or {@code deployments.apps}, the form of error messages. */
    @Override
    public String toString() {
        return group.isEmpty() ? plural : plural + "." + group;
    }
}
