package io.gpufleet.nodedaemon.model;

import java.util.Map;

/**
 * What the health-service does not want handed out on this node. No verdict is trust.
 *
 * @param revision of the verdict; 0 where there is none
 * @param bootId boot for which it was reached; empty where there is none
 * @param survivesBoot whether it also holds after a reboot
 * @param distrusted reason by GPU UUID
 */
public record Overlay(long revision, String bootId, boolean survivesBoot, Map<String, String> distrusted) {
    /** Trust: no record, or a tombstone. */
    public static final Overlay TRUST = new Overlay(0, "", true, Map.of());

    /** Copies the map. */
    public Overlay {
        distrusted = Map.copyOf(distrusted);
    }

    /** What of it counts in this boot. */
    public Overlay inForce(String currentBootId) {
        return survivesBoot || bootId.isEmpty() || bootId.equals(currentBootId) ? this : TRUST;
    }

    /** Why a device is distrusted; empty text when it is not. */
    public String objection(String gpuUuid) {
        return distrusted.getOrDefault(gpuUuid, "");
    }
}
