package io.gpufleet.runtime.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.projection.ProjectionSettings;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** {@code gpufleet_active} is 1 only while the lease is held, so that it is 0 within the session of a dead broker. */
@NullMarked
class LeadershipLeaseTest {
    private final AtomicLong nanos = new AtomicLong(1_000);
    private final LeadershipLease lease = new LeadershipLease(ProjectionSettings.LEASE, nanos::get);

    @Test
    void leaseEndsALeaseAfterTheLastCommitWasBegunAndThatIsWithinTheSession() {
        assertThat(lease.held()).isFalse();
        lease.renew(nanos.get());

        nanos.addAndGet(ProjectionSettings.LEASE.toNanos() - 1);
        assertThat(lease.held()).isTrue();
        nanos.incrementAndGet();
        assertThat(lease.held()).isFalse();

        assertThat(ProjectionSettings.LEASE).isLessThan(ProjectionSettings.SESSION);
    }

    @Test
    void answerThatComesLateRenewsFromWhenItsCommitWasBegun() {
        long begun = nanos.get();
        nanos.addAndGet(ProjectionSettings.LEASE.toNanos());

        lease.renew(begun);

        assertThat(lease.held()).isFalse();
    }

    @Test
    void leaseOfATermThatIsOverIsHeldByNobody() {
        lease.renew(nanos.get());
        lease.end();

        assertThat(lease.held()).isFalse();
    }
}
