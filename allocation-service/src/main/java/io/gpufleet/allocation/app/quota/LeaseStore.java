package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ApiServerException;
import java.util.Optional;

/** The Lease object by which the replicas agree on the quota leader. All calls block; reads are quorum reads. */
public interface LeaseStore {
    /**
     * The Lease as read.
     *
     * @param holder identity of the holder; empty when it gave the lease up
     * @param address host and port by which other replicas reach the holder
     * @param version version to pass to the next write; empty when there is no object
     */
    record LeaseRecord(String holder, String address, String version) {
        /** No Lease was ever written. */
        public static final LeaseRecord NONE = new LeaseRecord("", "", "");
    }

    /** Reads the Lease; empty when there is none. */
    Optional<LeaseRecord> read() throws ApiServerException;

    /** Writes holder and address, unless the Lease changed since its version was read; returns it as written. */
    Optional<LeaseRecord> write(LeaseRecord lease) throws ApiServerException;
}
