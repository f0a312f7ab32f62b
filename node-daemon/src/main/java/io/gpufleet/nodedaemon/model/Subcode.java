package io.gpufleet.nodedaemon.model;

/**
 * What a source says of an XID beyond its number.
 *
 * @param name the part that erred, as the driver prints it, for example {@code NETIR_LINK_EVT}; empty where the source names none
 * @param need what follows from it
 */
public record Subcode(String name, Need need) {
    /** The source told the number and no more. */
    public static final Subcode NONE = new Subcode("", Need.UNSAID);

    /** What an error asks for. */
    public enum Need {
        /** The number alone decides, or the driver by its recovery action. */
        UNSAID,
        /** Nothing. */
        NOTHING,
        /** A reset, a reboot or hands. */
        REPAIR
    }

    /** What is known after a newer word: it counts, but for one that names nothing, and none takes back a need for repair. */
    Subcode then(Subcode newer) {
        boolean softer = need == Need.REPAIR && newer.need != Need.REPAIR;
        return newer.name.isEmpty() || softer ? this : newer;
    }
}
