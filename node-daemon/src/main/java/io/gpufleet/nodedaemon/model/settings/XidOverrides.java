package io.gpufleet.nodedaemon.model.settings;

import java.util.Set;

/**
 * An operator's overrides of the XID catalogue for single XIDs; NVIDIA's {@code DP_DISABLE_HEALTHCHECKS} and
 * {@code DP_ENABLE_HEALTHCHECKS}. A code in both withdraws.
 *
 * @param allIgnored no XID withdraws a device, except the enforced ones
 * @param allEnforced every XID does, except the ignored ones
 * @param ignored XIDs that never withdraw
 * @param enforced XIDs that always withdraw
 */
public record XidOverrides(boolean allIgnored, boolean allEnforced, Set<Integer> ignored, Set<Integer> enforced) {
    /** No override. */
    public static final XidOverrides NONE = new XidOverrides(false, false, Set.of(), Set.of());

    /** Copies the sets. */
    public XidOverrides {
        ignored = Set.copyOf(ignored);
        enforced = Set.copyOf(enforced);
    }

    /** Whether an override decides about the XID. */
    public boolean concern(int code) {
        return allIgnored || allEnforced || ignored.contains(code) || enforced.contains(code);
    }

    /** Whether the XID withdraws a device, given the decision of the catalogue in {@code standard}. */
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
