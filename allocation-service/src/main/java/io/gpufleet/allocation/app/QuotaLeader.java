package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.AdmissionRequest;
import io.gpufleet.allocation.model.quota.BatchDecision;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.LeadershipLease;
import io.gpufleet.allocation.model.quota.LeadershipLease.Acquisition;
import io.gpufleet.allocation.model.quota.QuotaEvaluator;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaState;
import io.gpufleet.allocation.model.quota.QuotaStateReducer;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads the quotas while this replica is active: acquires every quota, raises the escrow before an answer that needs it,
 * renews the lease, writes what is used. Between the terms of the active replica, and while its lease is not held, it
 * decides and writes nothing. For one thread, except where noted.
 */
public final class QuotaLeader {
    /** Label of namespaces in which the webhook fails closed. */
    public static final String NAMESPACE_LABEL = "gpufleet.io/quota";

    private static final Logger LOG = LoggerFactory.getLogger(QuotaLeader.class);
    private static final int ATTEMPTS = 5;
    private static final Duration RENEW_INTERVAL = Duration.ofSeconds(2);
    private static final Duration ESCROW_IDLE = Duration.ofSeconds(30);
    private static final AdmissionDecision NOT_LEADER =
            new AdmissionDecision.Unavailable("this replica of allocation-service is not the quota leader; retry");

    /** A request whose answer is awaited. */
    record PendingAdmission(AdmissionRequest request, CompletableFuture<AdmissionDecision> answer) {}

    private final QuotaClient client;
    private final String instance;
    private final ActiveLease active;
    private final Clock clock;
    private final LongSupplier nanos;
    private final Map<String, Long> raisedAt = new HashMap<>();
    private QuotaState state = QuotaState.EMPTY;
    private boolean elected;
    private volatile @Nullable LeadershipLease lease;
    /** The lease of the former term, until it is known whether another replica led the quotas since. */
    private @Nullable LeadershipLease suspended;

    private long nextRenewal;
    private long carriedOverSince;
    private volatile List<String> readinessFailures = List.of();

    /** A replica that is not elected; {@code nanos} is a monotonic clock. */
    public QuotaLeader(QuotaClient client, String instance, ActiveLease active, Clock clock, LongSupplier nanos) {
        this.client = client;
        this.instance = instance;
        this.active = active;
        this.clock = clock;
        this.nanos = nanos;
    }

    /** True while this replica has a lease on the quotas, and that of the active replica. On any thread. */
    boolean isLeader() {
        return lease != null && active.held();
    }

    /** Why this replica, though elected, cannot decide. On any thread. */
    List<String> readinessFailures() {
        return readinessFailures;
    }

    /** Applies observations of the cluster. */
    void observe(List<? extends QuotaEvent> events) {
        state = QuotaStateReducer.apply(state, events);
    }

    private void apply(QuotaEvent event) {
        observe(List.of(event));
    }

    /** This replica is active. */
    void elected() {
        elected = true;
        if (lease == null) {
            acquireLeadership();
        }
    }

    /**
     * This replica is not active any more, and may be again in a moment. What it reserved still counts if no other one
     * led in between.
     */
    void suspend() {
        elected = false;
        LeadershipLease former = lease;
        if (former != null) {
            suspended = former;
            lease = null;
        }
        readinessFailures = List.of();
    }

    /** Gives up leadership; lowers the escrow to what is used, so that the next leader carries over nothing more. */
    void resign() {
        if (hasValidLease()) {
            try {
                writeCounts(true);
            } catch (ApiServerException failed) {
                LOG.atWarn()
                        .addKeyValue("error", failed.getMessage())
                        .log("escrow not lowered, the next leader carries it over");
            }
        }
        elected = false;
        lease = null;
        suspended = null;
        readinessFailures = List.of();
        apply(new QuotaEvent.TermStarted());
    }

    private boolean hasValidLease() {
        LeadershipLease current = lease;
        return current != null && current.isValid(nanos.getAsLong()) && active.held();
    }

    private void acquireLeadership() {
        try {
            long start = nanos.getAsLong();
            List<GpuQuota> quotas = client.quotas();
            LeadershipLease next = nextLease(quotas, start);
            if (!acquireAll(quotas, next)) {
                return;
            }
            observePods();
            lease = next;
            suspended = null;
            readinessFailures = List.of();
            LOG.atInfo()
                    .addKeyValue("term", next.term())
                    .addKeyValue("quotas", quotas.size())
                    .log("became quota leader");
        } catch (ApiServerException failed) {
            readinessFailures = List.of("quota leadership cannot be acquired: " + failed.getMessage());
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("quota leadership cannot be acquired, retrying");
        }
    }

    /** The former lease where nobody led since; else one of a new term, in which nothing is reserved. */
    private LeadershipLease nextLease(List<GpuQuota> quotas, long start) {
        LeadershipLease former = suspended;
        if (former != null && former.isNewest(quotas)) {
            return former.renewed(start);
        }
        suspended = null;
        apply(new QuotaEvent.TermStarted());
        return LeadershipLease.nextTerm(instance, quotas, clock.millis(), start);
    }

    /** Drops the quotas that are gone, and writes the token into all others; false when another replica leads. */
    private boolean acquireAll(List<GpuQuota> found, LeadershipLease mine) throws ApiServerException {
        for (String name : List.copyOf(state.quotas().keySet())) {
            if (found.stream().noneMatch(quota -> quota.name().equals(name))) {
                quotaDeleted(name);
            }
        }
        for (GpuQuota quota : found) {
            apply(new QuotaEvent.QuotaObserved(quota));
            if (!acquire(quota, mine)) {
                return false;
            }
        }
        return true;
    }

    private void quotaDeleted(String name) {
        apply(new QuotaEvent.QuotaDeleted(name));
        raisedAt.remove(name);
    }

    private void observePods() throws ApiServerException {
        observe(client.gpuPods().stream().map(QuotaEvent.PodObserved::new).toList());
    }

    /** Writes the token into a quota unless it is there; false when a replica with a higher term leads. */
    private boolean acquire(GpuQuota found, LeadershipLease mine) throws ApiServerException {
        GpuQuota quota = found;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            switch (mine.acquire(quota)) {
                case Acquisition.Held() -> {
                    return true;
                }
                case Acquisition.Superseded(String leader) -> {
                    stepDown(quota.name(), leader);
                    return false;
                }
                case Acquisition.Write(QuotaStatus status) -> {
                    if (updateStatus(quota.withStatus(status))
                            instanceof QuotaClient.UpdateResult.Updated(GpuQuota held)) {
                        observe(List.of(
                                new QuotaEvent.QuotaObserved(held),
                                new QuotaEvent.CarriedOver(
                                        held.name(), held.status().escrow())));
                        carriedOverSince = nanos.getAsLong();
                        return true;
                    }
                }
            }
            Optional<GpuQuota> current = client.quotas().stream()
                    .filter(other -> other.name().equals(found.name()))
                    .findFirst();
            if (current.isEmpty()) {
                quotaDeleted(found.name());
                return true;
            }
            quota = current.get();
        }
        throw new ApiServerException("gpuquota/" + found.name() + ": update conflicted " + ATTEMPTS + " times");
    }

    private void stepDown(String quota, String leader) {
        LOG.atError()
                .addKeyValue("quota", quota)
                .addKeyValue("leader", leader)
                .log("another replica leads the quotas, stepping down");
        lease = null;
        suspended = null;
        elected = false;
        readinessFailures = List.of(leader + " leads the quotas; this replica waits for an election");
        apply(new QuotaEvent.TermStarted());
    }

    /** Answers a batch, after one write for each quota whose escrow has to grow. */
    void answer(List<PendingAdmission> batch) {
        List<AdmissionRequest> requests =
                batch.stream().map(PendingAdmission::request).toList();
        try {
            for (int attempt = 0; attempt < ATTEMPTS && hasValidLease(); attempt++) {
                state = QuotaStateReducer.withCurrentModels(state);
                BatchDecision decision = QuotaEvaluator.decide(state, requests, nanos.getAsLong());
                if (raiseEscrow(decision.requiredStatus()) && hasValidLease()) {
                    observe(decision.events());
                    for (int i = 0; i < batch.size(); i++) {
                        batch.get(i).answer().complete(decision.decisions().get(i));
                    }
                    return;
                }
                renew();
            }
        } catch (ApiServerException failed) {
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("escrow not raised");
        }
        batch.forEach(pending -> pending.answer().complete(NOT_LEADER));
    }

    /** False when somebody else wrote a quota in between: the batch has to be decided again. */
    private boolean raiseEscrow(Map<String, QuotaStatus> required) throws ApiServerException {
        for (var entry : required.entrySet()) {
            GpuQuota quota = state.quotas().get(entry.getKey());
            LeadershipLease mine = lease;
            if (quota == null || mine == null || !mine.leads(quota)) {
                return false;
            }
            if (!entry.getValue().equals(quota.status())) {
                if (!write(quota.withStatus(entry.getValue()))) {
                    return false;
                }
                raisedAt.put(quota.name(), nanos.getAsLong());
            }
        }
        return true;
    }

    private boolean write(GpuQuota quota) throws ApiServerException {
        return switch (updateStatus(quota)) {
            case QuotaClient.UpdateResult.Updated(GpuQuota written) -> {
                apply(new QuotaEvent.QuotaObserved(written));
                yield true;
            }
            case QuotaClient.UpdateResult.Conflict() -> false;
        };
    }

    private QuotaClient.UpdateResult updateStatus(GpuQuota quota) throws ApiServerException {
        active.require("status of gpuquota/" + quota.name());
        return client.updateStatus(quota);
    }

    /** Renews the lease: reads every quota, and finds the token of this replica in each or writes it there. */
    private void renew() throws ApiServerException {
        LeadershipLease mine = lease;
        if (mine == null) {
            return;
        }
        long start = nanos.getAsLong();
        if (acquireAll(client.quotas(), mine)) {
            lease = mine.renewed(start);
        }
    }

    /** Runs what is due: acquires leadership that was not to be had before, renews the lease, writes what is used. */
    void tick() {
        long now = nanos.getAsLong();
        if (!elected || !active.held() || now - nextRenewal < 0) {
            return;
        }
        nextRenewal = now + RENEW_INTERVAL.toNanos();
        if (lease == null) {
            acquireLeadership();
            return;
        }
        try {
            renew();
            releaseReservations();
            if (lease != null) {
                writeCounts(false);
                labelNamespaces();
            }
            readinessFailures = List.of();
        } catch (ApiServerException failed) {
            readinessFailures = List.of("quota leadership cannot be renewed: " + failed.getMessage());
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("quota leadership cannot be renewed, retrying");
        }
    }

    private void labelNamespaces() throws ApiServerException {
        for (var label : QuotaEvaluator.namespaceLabels(state, NAMESPACE_LABEL).entrySet()) {
            active.require("label of namespace " + label.getKey());
            client.labelNamespace(label.getKey(), label.getValue());
        }
    }

    /** Ends old reservations without a pod: no pod can be created for them any more. */
    private void releaseReservations() throws ApiServerException {
        long due = nanos.getAsLong() - LeadershipLease.RESERVATION_TTL.toNanos();
        boolean carryOverDue = state.hasCarryOver() && carriedOverSince - due < 0;
        if (carryOverDue || state.hasReservationBefore(due)) {
            observePods();
            apply(new QuotaEvent.ReservationsReleased(due));
            if (carryOverDue) {
                apply(new QuotaEvent.CarryOverCleared());
            }
        }
    }

    private void writeCounts(boolean lowerEscrow) throws ApiServerException {
        state = QuotaStateReducer.withCurrentModels(state);
        for (GpuQuota quota : List.copyOf(state.quotas().values())) {
            long now = nanos.getAsLong();
            long idle = now - raisedAt.getOrDefault(quota.name(), now - ESCROW_IDLE.toNanos());
            QuotaStatus counted =
                    QuotaEvaluator.countedStatus(state, quota, lowerEscrow || idle >= ESCROW_IDLE.toNanos());
            if (!counted.equals(quota.status()) && !write(quota.withStatus(counted))) {
                LOG.atDebug()
                        .addKeyValue("quota", quota.name())
                        .log("update conflicted, counted again at the next renewal");
            }
        }
    }

    List<QuotaView> views() {
        return state.quotas().values().stream().map(this::view).toList();
    }

    private QuotaView view(GpuQuota quota) {
        LeadershipLease mine = lease;
        return new QuotaView(
                quota.name(),
                quota.mode() == GpuQuota.Mode.ENFORCE ? "Enforce" : "Warn",
                mine != null && mine.leads(quota),
                quota.limits().stream().map(limit -> view(quota, limit)).toList());
    }

    private QuotaView.LimitView view(GpuQuota quota, QuotaLimit limit) {
        return new QuotaView.LimitView(
                limit.model(),
                limit.gpus(),
                state.usage(quota, limit),
                quota.status().escrow().getOrDefault(limit.model(), 0));
    }
}
