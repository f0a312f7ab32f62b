package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.fault.Overlay;
import java.util.Map;
import java.util.Set;

/**
 * Settings and verdicts that determine the offered devices, apart from the devices themselves.
 *
 * @param overlay the central verdict
 * @param heldIds ids of held devices
 * @param mpsProblems problem of the MPS control daemon, by resource; absent when it works
 * @param missingNodes why a device node that containers need is missing, by its path; absent when it is there
 */
public record OfferConstraints(
        Overlay overlay, Set<String> heldIds, Map<String, String> mpsProblems, Map<String, String> missingNodes) {
    /** Makes constraints of a host with all device nodes. */
    public OfferConstraints(Overlay overlay, Set<String> heldIds, Map<String, String> mpsProblems) {
        this(overlay, heldIds, mpsProblems, Map.of());
    }

    /** Copies. */
    public OfferConstraints {
        missingNodes = Map.copyOf(missingNodes);
        heldIds = Set.copyOf(heldIds);
        mpsProblems = Map.copyOf(mpsProblems);
    }

    /** No verdict, no holder, no MPS problem. */
    public static final OfferConstraints NONE = new OfferConstraints(Overlay.TRUST, Set.of(), Map.of());
}
