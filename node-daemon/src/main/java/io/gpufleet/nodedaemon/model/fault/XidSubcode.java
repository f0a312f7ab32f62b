package io.gpufleet.nodedaemon.model.fault;

/**
 * Details of an XID beyond its number.
 *
 * @param name the failed part as the driver prints it, for example {@code NETIR_LINK_EVT}; empty when unknown
 * @param need the repair that it needs
 */
public record XidSubcode(String name, RepairNeed need) {
    /** The source reported the number only. */
    public static final XidSubcode NONE = new XidSubcode("", RepairNeed.UNSPECIFIED);

    /** The repair that an error needs. */
    public enum RepairNeed {
        /** Unspecified: the XID's number decides, or the driver's recovery action. */
        UNSPECIFIED,
        /** No repair. */
        NOTHING,
        /** A reset, a reboot or work on the hardware. */
        REPAIR
    }

    /** Merges a newer subcode: it replaces the older one unless it names nothing, but a repair need stays. */
    XidSubcode mergedWith(XidSubcode newer) {
        boolean softer = need == RepairNeed.REPAIR && newer.need != RepairNeed.REPAIR;
        return newer.name.isEmpty() || softer ? this : newer;
    }
}
