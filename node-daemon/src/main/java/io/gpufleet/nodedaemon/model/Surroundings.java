package io.gpufleet.nodedaemon.model;

import java.util.Map;
import java.util.Set;

/**
 * What beside the devices themselves decides what the kubelet is told.
 *
 * @param overlay what the verdicts allow
 * @param heldIds devices that somebody holds
 * @param mpsTrouble why the MPS control daemon of a resource is of no use, by resource; absent where it is
 */
public record Surroundings(Overlay overlay, Set<String> heldIds, Map<String, String> mpsTrouble) {
    /** Copies. */
    public Surroundings {
        heldIds = Set.copyOf(heldIds);
        mpsTrouble = Map.copyOf(mpsTrouble);
    }

    /** Nothing objects and nobody holds anything. */
    public static final Surroundings QUIET = new Surroundings(Overlay.TRUST, Set.of(), Map.of());
}
