package io.gpufleet.allocation.app;

/** Receives the begin and the end of each term of this replica as the active one. Both methods return at once. */
public interface TermListener {
    /** This replica is active, and the ledger is complete. */
    void activated();

    /** This replica is not active any more. */
    void deactivated();
}
