package io.gpufleet.allocation.model.quota;

import java.time.Duration;
import java.util.Collection;

/**
 * Leadership of the quotas: a token that is written into the status of every quota, and the time at which it was last
 * found there. A replica that Kafka or a long pause left behind loses the lease by its own monotonic clock, before its
 * successor stops counting the pods that it may still have admitted.
 *
 * @param token identity of the process and term, unique among all leaders
 * @param renewedNanos monotonic time before the newest read or write that found the token in every quota
 */
public record QuotaFencingToken(String token, long term, long renewedNanos) {
    /** Time for which a lease is valid after a renewal. */
    public static final Duration DURATION = Duration.ofSeconds(8);

    /**
     * Time after which a pod that was admitted and not observed can no longer be created: a lease, a minute of a
     * request's life, rounded up.
     */
    public static final Duration RESERVATION_TTL = Duration.ofSeconds(70);

    /** Steps of a leader until its token is in a quota. */
    public sealed interface Acquisition {
        /** The quota has the token. */
        record Held() implements Acquisition {}

        /** The status to write, with the token. */
        record Write(QuotaStatus status) implements Acquisition {}

        /** A replica with a higher term leads the quota. */
        record Superseded(String leader) implements Acquisition {}
    }

    /** A lease for a new term, higher than the term of every quota. */
    public static QuotaFencingToken nextTerm(
            String identity, Collection<GpuQuota> quotas, long nowMillis, long nowNanos) {
        long newest =
                quotas.stream().mapToLong(quota -> quota.status().term()).max().orElse(0);
        long term = Math.max(newest + 1, nowMillis);
        return new QuotaFencingToken(identity + "@" + term, term, nowNanos);
    }

    /** Compares the lease with the status of a quota. */
    public Acquisition acquire(GpuQuota quota) {
        QuotaStatus status = quota.status();
        if (status.leader().equals(token)) {
            return new Acquisition.Held();
        }
        return status.term() > term
                ? new Acquisition.Superseded(status.leader())
                : new Acquisition.Write(status.withLeader(token, term));
    }

    /** True when the quota has the token of this lease. */
    public boolean leads(GpuQuota quota) {
        return quota.status().leader().equals(token);
    }

    /** True when no quota has the token of a term that is as new as this one: nobody led since. */
    public boolean isNewest(Collection<GpuQuota> quotas) {
        return quotas.stream()
                .noneMatch(quota -> !leads(quota) && quota.status().term() >= term);
    }

    /** True while the lease is not expired. */
    public boolean isValid(long nanos) {
        return nanos - renewedNanos < DURATION.toNanos();
    }

    /** The lease after a renewal. */
    public QuotaFencingToken renewed(long nanos) {
        return new QuotaFencingToken(token, term, nanos);
    }
}
