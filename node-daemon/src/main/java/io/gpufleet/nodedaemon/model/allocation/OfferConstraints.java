package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.fault.Overlay;
import java.util.Map;
import java.util.Set;

/**
 * What determines the offered devices apart from the devices themselves.
 *
 * @param overlay the central verdict
 * @param heldIds ids of held devices
 * @param mpsProblems problem of the MPS control daemon, by resource; absent when it works
 */
public record OfferConstraints(Overlay overlay, Set<String> heldIds, Map<String, String> mpsProblems) {
    /** Copies. */
    public OfferConstraints {
        heldIds = Set.copyOf(heldIds);
        mpsProblems = Map.copyOf(mpsProblems);
    }

    /** No verdict, no holder, no MPS problem. */
    public static final OfferConstraints NONE = new OfferConstraints(Overlay.TRUST, Set.of(), Map.of());
}
