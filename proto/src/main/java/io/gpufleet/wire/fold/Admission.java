package io.gpufleet.wire.fold;

/**
 * Whether an event is to be applied.
 *
 * @param fresh false for one that was applied before or is older than one that was
 * @param newMachine true for the first event of another machine under an old name
 * @param missed events of the writer that never arrived, as this one reveals; 0 or more
 */
record Admission(boolean fresh, boolean newMachine, long missed) {
    /** Met again, or too late. */
    static final Admission STALE = new Admission(false, false, 0);
}
