package io.gpufleet.wire.projection;

/**
 * Counters of an engine since the process started.
 *
 * @param folded events applied
 * @param duplicates duplicate events dropped
 * @param missed events of nodes that never arrived, counted by gaps in sequences
 * @param poisoned records sent to the dead-letter topic
 * @param commits transactions committed
 * @param lag records of the inputs not read yet, as of the last second; 0 on a standby
 * @param newMachines node names reused by another machine
 */
public record ProjectionCounters(
        long folded, long duplicates, long missed, long poisoned, long commits, long lag, long newMachines) {}
