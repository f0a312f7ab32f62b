package io.gpufleet.allocation.app;

import java.util.function.BooleanSupplier;

/**
 * The lease of the active replica: that of the present term, and none between terms. Whatever is written to Kubernetes or
 * reported of it asks {@link #held} immediately before.
 */
public final class ActiveLease {
    private volatile BooleanSupplier lease = () -> false;

    /** A term began; its lease is asked from now on. */
    public void begin(BooleanSupplier leaseOfTerm) {
        lease = leaseOfTerm;
    }

    /** The term is over; a lease that is renewed by the next term counts only after its beginning. */
    public void end() {
        lease = () -> false;
    }

    /** True while this replica may write. On any thread. */
    public boolean held() {
        return lease.getAsBoolean();
    }

    /** Refuses a write without the lease; {@code object} names what would have been written. */
    public void require(String object) throws ApiServerException {
        if (!held()) {
            throw new ApiServerException(object + " not written: this replica is not active now");
        }
    }
}
