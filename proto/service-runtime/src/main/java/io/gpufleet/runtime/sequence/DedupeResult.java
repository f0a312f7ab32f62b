package io.gpufleet.runtime.sequence;

/**
 * Result of the check whether an event was applied before.
 *
 * @param fresh false for an event that was applied before or is older than one that was
 * @param newMachine true for the first event of another machine under an old node name
 * @param missed number of events of the writer that never arrived, revealed by this event; 0 or more
 */
public record DedupeResult(boolean fresh, boolean newMachine, long missed) {
    /** A duplicate, or an event that is older than one that was applied. */
    static final DedupeResult STALE = new DedupeResult(false, false, 0);
}
