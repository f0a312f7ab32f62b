package io.gpufleet.catalogue;

/**
 * One entry.
 *
 * @param code as the driver prints it after {@code Xid}
 * @param mnemonic NVIDIA's name of the code
 * @param description one line
 * @param immediate what to do at once
 * @param investigatory what to do afterwards, NVIDIA's words, {@code UNSTATED} where it has none
 */
public record Xid(int code, String mnemonic, String description, ImmediateAction immediate, String investigatory) {}
