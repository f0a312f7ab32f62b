package io.gpufleet.health.model.nodepatch;

import org.jspecify.annotations.Nullable;

/**
 * What a patch of a Node relies on beside the fields themselves.
 *
 * @param resourceVersion tells one observation from another; a patch does not ask for it, since every heartbeat of the
 *     kubelet changes it
 * @param applied our annotation as it was found, also when it cannot be read; null when absent
 * @param labels false when the object has no labels at all
 * @param annotations false when the object has no annotations at all
 * @param spec false when the object has no spec
 */
public record PatchBase(
        String resourceVersion, @Nullable String applied, boolean labels, boolean annotations, boolean spec) {
    /** An object with a label, an annotation and a spec, and without our annotation. */
    public static PatchBase of(String resourceVersion) {
        return new PatchBase(resourceVersion, null, true, true, true);
    }
}
