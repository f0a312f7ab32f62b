package io.gpufleet.nodedaemon.model;

/**
 * A fault that the kernel log tells of.
 *
 * @param pciBusId of the GPU for an XID, of the NVSwitch for an SXID, as the driver printed it
 * @param fault what is wrong
 * @param message the driver's line, bounded
 * @param passing whether the driver itself says that nothing stays behind
 */
public record KernelReport(String pciBusId, FaultCode fault, String message, boolean passing) {}
