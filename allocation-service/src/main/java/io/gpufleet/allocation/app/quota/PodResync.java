package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaFencingToken;
import io.gpufleet.allocation.model.quota.QuotaState;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what is known of the pods with a quorum list: at the start of a term, when a reservation is old enough
 * that its pod must exist, and now and then. For the decider's thread; the list is read beside it.
 */
final class PodResync {
    private static final Logger LOG = LoggerFactory.getLogger(PodResync.class);
    private static final long INTERVAL = Duration.ofMinutes(10).toNanos();
    /** Between two lists: 100,000 pods are 200 pages, and pods that are never created may fall due at any time. */
    private static final long PAUSE = Duration.ofSeconds(10).toNanos();

    private static final long RETRY = Duration.ofSeconds(2).toNanos();

    private final QuotaClient client;
    private final QuotaState state;
    private final QuotaExecutors executors;
    private final LongSupplier nanos;
    private boolean listing;
    private long listedAt;
    private long retryAt;
    private long carriedOverSince;
    private String failure = "";
    /** Callers that wait for a list that starts after the present one. */
    private @Nullable Runnable following;

    PodResync(QuotaClient client, QuotaState state, QuotaExecutors executors, LongSupplier nanos) {
        this.client = client;
        this.state = state;
        this.executors = executors;
        this.nanos = nanos;
        this.retryAt = nanos.getAsLong();
    }

    /** Escrow of an earlier leader counts from now on. */
    void carriedOver() {
        carriedOverSince = nanos.getAsLong();
    }

    /** Why the last list failed; empty when it did not. */
    String failure() {
        return failure;
    }

    /** Starts a list if one is due and none is under way. */
    void tick() {
        if (listing) {
            return;
        }
        long now = nanos.getAsLong();
        long due = now - QuotaFencingToken.RESERVATION_TTL.toNanos();
        if (state.hasReservationBefore(due)
                || (state.hasCarryOver() && carriedOverSince - due < 0)
                || now - listedAt > INTERVAL) {
            if (now - retryAt >= 0) {
                list(() -> {});
            }
        }
    }

    /**
     * Starts a list, or lets it follow the one that is under way; {@code done} runs after it was applied, not after a
     * failure.
     */
    void list(Runnable done) {
        if (listing) {
            following = done;
            return;
        }
        listing = true;
        following = null;
        long start = nanos.getAsLong();
        executors.background().execute(() -> {
            Runnable result;
            try {
                client.gpuPods(page -> executors
                        .decider()
                        .execute(() -> page.forEach(pod -> state.apply(new QuotaEvent.PodObserved(pod, start)))));
                result = () -> listed(start, done);
            } catch (ApiServerException | RuntimeException failed) {
                result = () -> failed(String.valueOf(failed.getMessage()));
            }
            executors.decider().execute(result);
        });
    }

    private void follow() {
        Runnable next = following;
        if (next != null) {
            list(next);
        }
    }

    private void listed(long start, Runnable done) {
        listing = false;
        listedAt = start;
        retryAt = nanos.getAsLong() + PAUSE;
        failure = "";
        long due = start - QuotaFencingToken.RESERVATION_TTL.toNanos();
        state.apply(new QuotaEvent.PodsListed(start));
        state.apply(new QuotaEvent.ReservationsReleased(due));
        if (state.hasCarryOver() && carriedOverSince - due < 0) {
            state.apply(new QuotaEvent.CarryOverCleared());
        }
        done.run();
        follow();
    }

    private void failed(String message) {
        listing = false;
        failure = message;
        retryAt = nanos.getAsLong() + RETRY;
        LOG.atWarn().addKeyValue("error", message).log("pods cannot be listed, retrying");
        follow();
    }
}
