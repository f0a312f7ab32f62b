package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.ApiServerException;
import io.gpufleet.allocation.app.quota.QuotaClient.UpdateResult;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.LimitKey;
import io.gpufleet.allocation.model.quota.QuotaEvaluator;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaFencingToken;
import io.gpufleet.allocation.model.quota.QuotaFencingToken.Acquisition;
import io.gpufleet.allocation.model.quota.QuotaState;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes tokens, escrow and counts into the status of the quotas: one write at a time for each quota, several quotas at
 * once, beside the thread that decides. For that thread only.
 */
final class QuotaStatusWriter {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaStatusWriter.class);
    private static final long RETRY = Duration.ofMillis(500).toNanos();
    private static final int TOLERATED_FAILURES = 3;
    private static final long RETRY_REJECTED = Duration.ofSeconds(30).toNanos();
    /** Further writes wait here, where those that an admission waits for come first. */
    private static final int MAX_IN_FLIGHT = 8;

    /** Receives what becomes of the writes. */
    interface Listener {
        /** A quota was written, changed, deleted, or cannot be written now. */
        void changed(String quota);

        /** The token is written, or about to be, into a quota that another one led; its escrow counts as used. */
        void carriedOver(String quota);

        /** A replica with a higher term leads a quota. */
        void superseded(String quota, String leader);
    }

    private sealed interface Outcome {
        record Written(GpuQuota quota) implements Outcome {}

        record Changed(Optional<GpuQuota> current) implements Outcome {}

        record Failed(ApiServerException failure) implements Outcome {}
    }

    /** A write whose outcome may still be unknown; void once the quota has another version than it was made for. */
    private record Attempt(String resourceVersion, QuotaStatus status) {}

    private static final class Progress {
        private boolean inFlight;
        /** The escrow of a former leader is counted, and its token may be replaced or not. */
        private boolean acquiring;

        /** Another write is wanted once that in flight is over. */
        private boolean again;

        /** An admission waits for the write that is wanted. */
        private boolean urgent;

        private @Nullable Attempt attempt;
        private long retryAt;
        /** Waits among the retries. */
        private boolean queued;

        private boolean retry;
        private int failures;
        private String problem = "";
    }

    /** A quota that is tried again at a monotonic time. */
    private record Retry(long at, String quota) {}

    private final QuotaClient client;
    private final ActiveLease active;
    private final QuotaState state;
    private final QuotaExecutors executors;
    private final LongSupplier nanos;
    private final Listener listener;
    private final Map<String, Progress> progress = new HashMap<>();
    /** Quotas whose write may be started; those that have to wait are elsewhere, since each decision looks here. */
    private final SequencedSet<String> wanted = new LinkedHashSet<>();

    private final Queue<Retry> retries = new PriorityQueue<>((one, other) -> Long.signum(one.at() - other.at()));
    /** Quotas that wait for the list of the pods. */
    private final Set<String> unlisted = new HashSet<>();

    private int inFlight;
    private boolean podsListed;

    QuotaStatusWriter(
            QuotaClient client,
            ActiveLease active,
            QuotaState state,
            QuotaExecutors executors,
            LongSupplier nanos,
            Listener listener) {
        this.client = client;
        this.active = active;
        this.state = state;
        this.executors = executors;
        this.nanos = nanos;
        this.listener = listener;
    }

    /** True when the escrow that is surely written covers so much of a limit. */
    boolean covers(QuotaFencingToken lease, LimitKey limit, int gpus) {
        GpuQuota quota = state.quotas().get(limit.quota());
        if (quota == null) {
            return true;
        }
        if (!lease.leads(quota)) {
            return false;
        }
        int written = quota.status().escrow().getOrDefault(limit.limit(), 0);
        Attempt attempt = of(limit.quota()).attempt;
        return gpus
                <= (attempt != null && attempt.resourceVersion().equals(quota.resourceVersion())
                        ? Math.min(written, attempt.status().escrow().getOrDefault(limit.limit(), 0))
                        : written);
    }

    /** Why a quota cannot be written; empty when it can. */
    String problem(String quota) {
        return of(quota).problem;
    }

    /** Writes the token, or the escrow that is needed, as soon as no other write of the quota is under way. */
    void request(String quota) {
        wanted.add(quota);
    }

    /** The same before what was requested so far: an admission waits for it. */
    void requestFirst(String quota) {
        of(quota).urgent = true;
        wanted.addFirst(quota);
    }

    private void requestAgain(String quota) {
        if (of(quota).urgent) {
            wanted.addFirst(quota);
        } else {
            wanted.add(quota);
        }
    }

    /** Whether the pods are listed in this term: a quota that nobody led is not acquired before. */
    void podsListed(boolean listed) {
        podsListed = listed;
        if (listed) {
            wanted.addAll(unlisted);
            unlisted.clear();
        }
    }

    boolean podsListed() {
        return podsListed;
    }

    /** Starts the writes that were requested and are due, as many as may be under way. */
    void pump(QuotaFencingToken lease) {
        long now = nanos.getAsLong();
        for (Retry next = retries.peek(); next != null && next.at() - now <= 0; next = retries.peek()) {
            retries.remove();
            of(next.quota()).queued = false;
            requestAgain(next.quota());
        }
        while (inFlight < MAX_IN_FLIGHT && !wanted.isEmpty()) {
            String name = wanted.removeFirst();
            GpuQuota quota = state.quotas().get(name);
            if (quota == null) {
                progress.remove(name);
            } else if (!waits(quota, now) && !start(quota, lease)) {
                return;
            }
        }
    }

    /** True when a quota cannot be written yet; it is wanted again when it can. */
    private boolean waits(GpuQuota quota, long now) {
        Progress known = of(quota.name());
        if (known.inFlight) {
            known.again = true;
            return true;
        }
        if (known.retry && now - known.retryAt < 0) {
            if (!known.queued) {
                known.queued = true;
                retries.add(new Retry(known.retryAt, quota.name()));
            }
            return true;
        }
        if (!podsListed && quota.status().term() == 0) {
            unlisted.add(quota.name());
            return true;
        }
        return false;
    }

    /** False when another replica leads the quota, so that this one may write nothing. */
    private boolean start(GpuQuota quota, QuotaFencingToken lease) {
        return switch (lease.acquire(quota)) {
            case Acquisition.Superseded(String leader) -> {
                listener.superseded(quota.name(), leader);
                yield false;
            }
            case Acquisition.Write(QuotaStatus status) -> {
                QuotaStatus acquired = QuotaEvaluator.acquiredStatus(state, quota, status);
                carryOver(quota);
                submit(quota, acquired);
                yield true;
            }
            case Acquisition.Held() -> {
                acquired(quota.name());
                if (QuotaEvaluator.needsEscrow(state, quota)) {
                    submit(quota, QuotaEvaluator.raisedStatus(state, quota));
                }
                yield true;
            }
        };
    }

    /**
     * Counts what a former leader may have admitted; nothing of a quota that nobody led. Before its token is replaced: the
     * answer to that write may be lost.
     */
    private void carryOver(GpuQuota quota) {
        if (quota.status().term() > 0) {
            of(quota.name()).acquiring = true;
            state.apply(new QuotaEvent.CarriedOver(quota.name(), quota.status().escrow()));
            listener.carriedOver(quota.name());
        }
    }

    /** The quota was found with the token: from now on its former leader admits nothing of it. */
    void acquired(String quota) {
        Progress known = of(quota);
        if (known.acquiring) {
            known.acquiring = false;
            listener.carriedOver(quota);
        }
    }

    /**
     * Writes the present counts, if they differ from those written; false when nothing had to or could be written. A
     * quota without the token keeps its escrow: it is to be carried over.
     */
    boolean writeCounts(QuotaFencingToken lease, String name, boolean lowerEscrow) {
        GpuQuota quota = state.quotas().get(name);
        if (quota == null || !lease.leads(quota) || of(name).inFlight || of(name).retry) {
            return false;
        }
        QuotaStatus counted = QuotaEvaluator.countedStatus(state, quota, lowerEscrow);
        if (counted.equals(quota.status())) {
            return false;
        }
        submit(quota, counted);
        return true;
    }

    /** True while a write of the quota is under way. */
    boolean isWriting(String quota) {
        return of(quota).inFlight;
    }

    private void submit(GpuQuota quota, QuotaStatus status) {
        Progress known = of(quota.name());
        known.inFlight = true;
        known.urgent = false;
        inFlight++;
        known.attempt = new Attempt(quota.resourceVersion(), status);
        GpuQuota next = quota.withStatus(status);
        executors.api().execute(() -> {
            Outcome outcome = write(next);
            executors.decider().execute(() -> finished(next, outcome));
        });
    }

    private Outcome write(GpuQuota quota) {
        try {
            active.require("status of gpuquota/" + quota.name());
            return switch (client.updateStatus(quota)) {
                case UpdateResult.Updated(GpuQuota written) -> new Outcome.Written(written);
                case UpdateResult.Conflict() -> new Outcome.Changed(client.quota(quota.name()));
            };
        } catch (ApiServerException failed) {
            return new Outcome.Failed(failed);
        } catch (RuntimeException failed) {
            return new Outcome.Failed(new ApiServerException("gpuquota/" + quota.name() + ": " + failed, failed));
        }
    }

    private void finished(GpuQuota attempted, Outcome outcome) {
        String name = attempted.name();
        Progress known = of(name);
        known.inFlight = false;
        inFlight--;
        known.retry = false;
        if (known.again) {
            known.again = false;
            requestAgain(name);
        }
        switch (outcome) {
            case Outcome.Written(GpuQuota written) -> {
                known.problem = "";
                known.failures = 0;
                state.apply(new QuotaEvent.QuotaObserved(written));
                acquired(name);
            }
            case Outcome.Changed(Optional<GpuQuota> current) -> {
                current.ifPresentOrElse(quota -> state.apply(new QuotaEvent.QuotaObserved(quota)), () -> deleted(name));
                wanted.add(name);
            }
            case Outcome.Failed(ApiServerException failure) -> failed(name, known, failure);
        }
        listener.changed(name);
    }

    private void failed(String name, Progress known, ApiServerException failure) {
        known.retry = true;
        known.retryAt = nanos.getAsLong() + (failure.rejected() ? RETRY_REJECTED : RETRY);
        wanted.add(name);
        if (known.problem.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("quota", name)
                    .addKeyValue("error", failure.getMessage())
                    .log("status of the quota cannot be written, retrying");
        }
        known.failures++;
        if (failure.rejected()) {
            report(new QuotaClient.QuotaProblem(name, String.valueOf(failure.getMessage())));
        }
        if (failure.rejected() || known.failures >= TOLERATED_FAILURES) {
            known.problem = String.valueOf(failure.getMessage());
        }
    }

    /** Tells the owner of a quota why it is not in force; a quota that cannot even be told so is logged only. */
    void report(QuotaClient.QuotaProblem problem) {
        executors.background().execute(() -> {
            try {
                active.require("status of gpuquota/" + problem.quota());
                client.reportProblem(problem);
            } catch (ApiServerException | RuntimeException failed) {
                LOG.atWarn()
                        .addKeyValue("quota", problem.quota())
                        .addKeyValue("error", failed.getMessage())
                        .log("condition of the quota cannot be written");
            }
        });
    }

    /** A quota is gone. */
    void deleted(String name) {
        state.apply(new QuotaEvent.QuotaDeleted(name));
        progress.remove(name);
        wanted.remove(name);
        unlisted.remove(name);
    }

    private Progress of(String quota) {
        return progress.computeIfAbsent(quota, _ -> new Progress());
    }
}
