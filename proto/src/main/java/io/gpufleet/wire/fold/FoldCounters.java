package io.gpufleet.wire.fold;

/**
 * What a fold has counted since the process started.
 *
 * @param folded events applied
 * @param duplicates events met again and dropped
 * @param missed events of nodes that never arrived, as told by holes in sequences
 * @param poisoned records sent to the dead letters
 * @param commits transactions committed
 * @param lag records of the inputs that wait to be read, as of the last second; 0 on a standby
 * @param newMachines nodes whose name was taken over by another machine
 */
public record FoldCounters(
        long folded, long duplicates, long missed, long poisoned, long commits, long lag, long newMachines) {}
