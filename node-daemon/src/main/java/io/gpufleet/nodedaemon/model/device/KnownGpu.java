package io.gpufleet.nodedaemon.model.device;

/**
 * A GPU of this node, whether it responds or not.
 *
 * @param gpu as last read
 * @param presence whether it responds
 */
public record KnownGpu(Gpu gpu, Presence presence) {
    /** Whether a known GPU responds. */
    public sealed interface Presence {
        /** The last scan found it. */
        record Answering() implements Presence {}

        /** The last scan did not find it; whether its PCI address still has a device that does not respond. */
        record Missing(long sinceNanos, String reason, boolean pciDevicePresent) implements Presence {}
    }

    /** Whether the last scan found it. */
    public boolean answers() {
        return presence instanceof Presence.Answering;
    }
}
