package io.gpufleet.nodedaemon.model.fault;

/**
 * A fault reported in the kernel log.
 *
 * @param pciBusId of the GPU for an XID, of the NVSwitch for an SXID, as the driver printed it
 * @param fault its code
 * @param subcode details of an XID beyond its number
 * @param message the driver's line, of bounded length
 * @param transientFault whether the driver itself reports no lasting effect
 */
public record KernelLogFault(
        String pciBusId, FaultCode fault, XidSubcode subcode, String message, boolean transientFault) {
    /** Makes a fault of a line with a code only. */
    public KernelLogFault(String pciBusId, FaultCode fault, String message, boolean transientFault) {
        this(pciBusId, fault, XidSubcode.NONE, message, transientFault);
    }
}
