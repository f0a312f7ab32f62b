package io.gpufleet.cli.drill;

/**
 * Condition that must hold in a drill, with its result.
 *
 * @param sentence what must hold
 * @param holds whether it did, within the time of the drill
 * @param seconds from the fault until it was seen to hold; of what follows the end of the fault, from that end
 */
public record Invariant(String sentence, boolean holds, double seconds) {}
