package io.gpufleet.xid;

/**
 * One entry of the XID catalogue.
 *
 * @param code number that the driver prints after {@code Xid}
 * @param mnemonic NVIDIA's name of the code
 * @param description one line for people
 * @param immediate immediate action
 * @param investigatory investigatory action, NVIDIA's text; {@code UNSTATED} where it has none
 */
public record Xid(int code, String mnemonic, String description, XidImmediateAction immediate, String investigatory) {}
