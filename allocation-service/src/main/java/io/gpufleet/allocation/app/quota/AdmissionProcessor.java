package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.quota.PendingAdmissionResponses.Pending;
import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.AdmissionRequest;
import io.gpufleet.allocation.model.quota.CountedPod;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.LimitKey;
import io.gpufleet.allocation.model.quota.QuotaEvaluator;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaFencingToken;
import io.gpufleet.allocation.model.quota.QuotaState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides on requests under a valid lease, reserves what is admitted, and gives each answer once the escrow that it
 * needs is written. For the decider's thread.
 */
final class AdmissionProcessor {
    static final AdmissionDecision NOT_LEADER =
            new AdmissionDecision.Unavailable("this replica of allocation-service is not the quota leader; retry");

    private static final AdmissionDecision LATE =
            new AdmissionDecision.Unavailable("the review waited too long for the quota leader; retry");

    /** Bounds the memory of pods that are admitted and never created; each counts until a list, 70 s or more later. */
    static final int MAX_RESERVATIONS = 30_000;

    /** Less than the 3 s that the API server waits. */
    private static final Duration TIMEOUT = Duration.ofMillis(2_200);

    private final QuotaState state;
    private final QuotaStatusWriter writer;
    private final QuotaHousekeeping housekeeping;
    private final LongSupplier nanos;
    private final NamespaceRateLimit rate = new NamespaceRateLimit();
    private final PendingAdmissionResponses pending = new PendingAdmissionResponses();

    AdmissionProcessor(QuotaState state, QuotaStatusWriter writer, QuotaHousekeeping housekeeping, LongSupplier nanos) {
        this.state = state;
        this.writer = writer;
        this.housekeeping = housekeeping;
        this.nanos = nanos;
    }

    void decide(QuotaFencingToken lease, QuotaLeader.PendingAdmission request) {
        AdmissionRequest asked = request.request();
        String namespace = asked.pod().namespace();
        if (nanos.getAsLong() - request.sinceNanos() > TIMEOUT.toNanos()) {
            // Nobody waits for the answer any more: a reservation would block others for a pod that is not created.
            request.answer().complete(LATE);
            return;
        }
        Optional<AdmissionDecision> excess = excess(namespace);
        if (excess.isPresent()) {
            request.answer().complete(excess.get());
            return;
        }
        Optional<AdmissionDecision> unacquired = unacquired(lease, namespace);
        if (unacquired.isPresent()) {
            request.answer().complete(unacquired.get());
            return;
        }
        var evaluation = QuotaEvaluator.evaluate(state, asked, nanos.getAsLong());
        evaluation.reservation().ifPresent(reservation -> reserve(asked, reservation));
        boolean admitted = evaluation.decision() instanceof AdmissionDecision.Admitted;
        if (!admitted || asked.dryRun() || state.covering(namespace).isEmpty()) {
            request.answer().complete(evaluation.decision());
            return;
        }
        answer(
                lease,
                new Pending(
                        asked.pod().uid(),
                        evaluation.decision(),
                        QuotaEvaluator.requiredEscrow(state, namespace),
                        request.sinceNanos(),
                        request.answer()));
    }

    /** Answers before a quota is acquired: pods that a former leader admitted are not counted yet. */
    private Optional<AdmissionDecision> unacquired(QuotaFencingToken lease, String namespace) {
        return state.covering(namespace).stream()
                .filter(quota -> quota.mode() == GpuQuota.Mode.ENFORCE && !lease.leads(quota))
                .map(GpuQuota::name)
                .findFirst()
                .map(this::notLed);
    }

    private AdmissionDecision notLed(String quota) {
        if (!writer.problem(quota).isEmpty()) {
            return new AdmissionDecision.Unavailable(cannotBeWritten(quota));
        }
        writer.requestFirst(quota);
        return new AdmissionDecision.Unavailable("GpuQuota " + quota + " is not led yet; retry");
    }

    private String cannotBeWritten(String quota) {
        return "GpuQuota " + quota + " cannot be written: " + writer.problem(quota);
    }

    /** Answers while too many reviews arrive: a quota that only warns refuses nothing then either. */
    private Optional<AdmissionDecision> excess(String namespace) {
        if (state.covering(namespace).isEmpty()) {
            return Optional.empty();
        }
        String reason = "";
        if (!rate.permits(namespace, nanos.getAsLong())) {
            reason = "namespace %s creates more than %d pods with GPUs a second; retry in a second"
                    .formatted(namespace, NamespaceRateLimit.PER_SECOND);
        } else if (state.reservations().size() >= MAX_RESERVATIONS) {
            reason = "%d pods were admitted and are not created yet; retry in a second".formatted(MAX_RESERVATIONS);
        }
        if (reason.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                QuotaEvaluator.isEnforced(state, namespace)
                        ? new AdmissionDecision.Throttled(reason)
                        : new AdmissionDecision.Admitted(List.of("not compared with its GpuQuota: " + reason)));
    }

    private void reserve(AdmissionRequest request, CountedPod reservation) {
        Optional<CountedPod> former = state.reservationOfSameName(request.pod());
        former.ifPresent(
                pod -> state.apply(new QuotaEvent.ReservationDropped(pod.pod().uid())));
        state.apply(new QuotaEvent.PodReserved(
                former.map(pod -> reservation.withAtLeast(pod.demand())).orElse(reservation)));
        for (GpuQuota quota : state.covering(request.pod().namespace())) {
            housekeeping.admitted(quota.name());
            if (QuotaEvaluator.needsEscrow(state, quota)) {
                writer.request(quota.name());
            }
        }
    }

    private void answer(QuotaFencingToken lease, Pending waiting) {
        String blocking = PendingAdmissionResponses.blockedBy(waiting, (limit, gpus) -> covers(lease, limit, gpus));
        if (blocking.isEmpty()) {
            waiting.answer().complete(waiting.decision());
        } else if (!writer.problem(blocking).isEmpty()) {
            drop(waiting, cannotBeWritten(blocking));
        } else {
            writer.requestFirst(blocking);
            pending.add(blocking, waiting);
        }
    }

    /** A reservation that was released since needs no escrow any more. */
    private boolean covers(QuotaFencingToken lease, LimitKey key, int required) {
        GpuQuota quota = state.quotas().get(key.quota());
        int counted = quota == null
                ? 0
                : quota.limits().stream()
                        .filter(limit -> limit.id().equals(key.limit()))
                        .mapToInt(limit -> state.used(quota, limit).roundedUp())
                        .max()
                        .orElse(0);
        return writer.covers(lease, key, Math.min(required, counted));
    }

    private void drop(Pending waiting, String reason) {
        state.apply(new QuotaEvent.ReservationDropped(waiting.uid()));
        waiting.answer().complete(new AdmissionDecision.Unavailable(reason));
    }

    /** Something changed about a quota: answers what waited for it. */
    void retry(@Nullable QuotaFencingToken lease, String quota) {
        for (Pending waiting : pending.take(quota)) {
            if (lease == null || !state.knows(waiting.uid())) {
                drop(waiting, "the quota leader lost its lease; retry");
            } else {
                answer(lease, waiting);
            }
        }
    }

    /** Gives up the requests that waited too long for the API server. */
    void expire(long now) {
        List<Pending> late = pending.takeBefore(now - TIMEOUT.toNanos());
        late.forEach(waiting -> drop(waiting, "the API server did not take the escrow in time; retry"));
    }

    /** The term is over. */
    void abandon() {
        pending.takeAll().forEach(waiting -> drop(waiting, "the term of the quota leader is over; retry"));
    }
}
