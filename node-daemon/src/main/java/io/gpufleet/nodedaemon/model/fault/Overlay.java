package io.gpufleet.nodedaemon.model.fault;

import java.util.Map;

/**
 * The health-service's verdict for this node: devices that must not be allocated. No verdict means trust.
 *
 * @param revision of the verdict; 0 where there is none
 * @param bootId boot for which it was reached; empty where there is none
 * @param survivesBoot whether it also holds after a reboot
 * @param withdrawn reason for which every device is withdrawn; empty when only single devices are
 * @param untrusted reason by GPU UUID
 */
public record Overlay(
        long revision, String bootId, boolean survivesBoot, String withdrawn, Map<String, String> untrusted) {
    /** Trust in every device: no record, or a tombstone. */
    public static final Overlay TRUST = new Overlay(0, "", true, "", Map.of());

    /** Makes a verdict about single devices. */
    public Overlay(long revision, String bootId, boolean survivesBoot, Map<String, String> untrusted) {
        this(revision, bootId, survivesBoot, "", untrusted);
    }

    /** Copies the map. */
    public Overlay {
        untrusted = Map.copyOf(untrusted);
    }

    /** Returns the part of it that applies in this boot. */
    public Overlay inForce(String currentBootId) {
        return survivesBoot || bootId.isEmpty() || bootId.equals(currentBootId) ? this : TRUST;
    }

    /** Returns why a device is not trusted; empty when it is. */
    public String untrustedReason(String gpuUuid) {
        return untrusted.getOrDefault(gpuUuid, withdrawn);
    }
}
