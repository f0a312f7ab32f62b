package io.gpufleet.compose.kubeapi.object;

/**
 * A resource without its version: one set of stored objects.
 *
 * @param group API group; empty for the core one
 * @param plural lower-case plural, as in the URL
 */
public record GroupResource(String group, String plural) {
    /** {@code nodes} or {@code deployments.apps}, as error texts write it. */
    @Override
    public String toString() {
        return group.isEmpty() ? plural : plural + "." + group;
    }
}
