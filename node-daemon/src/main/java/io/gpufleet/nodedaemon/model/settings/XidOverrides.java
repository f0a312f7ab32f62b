package io.gpufleet.nodedaemon.model.settings;

import java.util.Set;

/**
 * What an operator says about single XIDs, against the catalogue; NVIDIA's {@code DP_DISABLE_HEALTHCHECKS} and
 * {@code DP_ENABLE_HEALTHCHECKS}. A code that stands in both withdraws.
 *
 * @param allIgnored no XID withdraws a device, but those that are enforced
 * @param allEnforced every XID does, but those that are ignored
 * @param ignored these never do
 * @param enforced these always do
 */
public record XidOverrides(boolean allIgnored, boolean allEnforced, Set<Integer> ignored, Set<Integer> enforced) {
    /** The catalogue stands as it is. */
    public static final XidOverrides NONE = new XidOverrides(false, false, Set.of(), Set.of());

    /** Copies the sets. */
    public XidOverrides {
        ignored = Set.copyOf(ignored);
        enforced = Set.copyOf(enforced);
    }

    /** Whether the XID withdraws, where the catalogue says {@code standard}. */
    public boolean withdraws(int code, boolean standard) {
        if (enforced.contains(code)) {
            return true;
        }
        if (ignored.contains(code)) {
            return false;
        }
        return allEnforced || (standard && !allIgnored);
    }
}
