package io.gpufleet.nodedaemon.model;

/**
 * A fault that the kernel log tells of.
 *
 * @param pciBusId of the GPU for an XID, of the NVSwitch for an SXID, as the driver printed it
 * @param fault what is wrong
 * @param subcode what the line says of an XID beyond its number
 * @param message the driver's line, bounded
 * @param passing whether the driver itself says that nothing stays behind
 */
public record KernelReport(String pciBusId, FaultCode fault, Subcode subcode, String message, boolean passing) {
    /** A line that says no more than its code. */
    public KernelReport(String pciBusId, FaultCode fault, String message, boolean passing) {
        this(pciBusId, fault, Subcode.NONE, message, passing);
    }
}
