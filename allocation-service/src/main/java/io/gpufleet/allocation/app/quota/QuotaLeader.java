package io.gpufleet.allocation.app.quota;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.model.quota.AdmissionDecision;
import io.gpufleet.allocation.model.quota.AdmissionRequest;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvaluator;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaFencingToken;
import io.gpufleet.allocation.model.quota.QuotaFencingToken.Acquisition;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaState;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads the quotas while this replica is active: acquires every quota, answers requests once the escrow that they need is
 * written, renews its lease. A quota that another replica led is decided on as soon as it is acquired, from what its escrow
 * leaves; one that nobody led, once the pods are listed. Between the terms of the active replica, and while its lease is not
 * held, it decides and writes nothing. For the decider's thread, except where noted; calls to the API server run beside it.
 */
public final class QuotaLeader implements QuotaStatusWriter.Listener {
    /** Label of namespaces in which the webhook fails closed. */
    public static final String NAMESPACE_LABEL = "gpufleet.io/quota";

    private static final Logger LOG = LoggerFactory.getLogger(QuotaLeader.class);
    private static final Duration RENEW_INTERVAL = Duration.ofSeconds(2);
    /** A standby counts by the quotas as they were, so that little is left to do when it is elected. */
    private static final Duration READ_AHEAD_INTERVAL = Duration.ofSeconds(30);

    /** A request whose answer is awaited since a monotonic time. */
    record PendingAdmission(AdmissionRequest request, long sinceNanos, CompletableFuture<AdmissionDecision> answer) {}

    private final String identity;
    private final ActiveLease active;
    private final Clock clock;
    private final LongSupplier nanos;
    private final QuotaState state = new QuotaState();
    private final QuotaStatusWriter writer;
    private final QuotaHousekeeping housekeeping;
    private final PodResync pods;
    private final QuotaListReader quotas;
    private final AdmissionProcessor answers;
    private final Set<ClusterSyncPrecondition> missing = EnumSet.allOf(ClusterSyncPrecondition.class);
    private final Set<String> resigning = new HashSet<>();
    private final CompletableFuture<Void> resigned = new CompletableFuture<>();
    private boolean elected;
    private volatile @Nullable QuotaFencingToken lease;
    /** The token of a term that can decide on nothing yet. */
    private @Nullable QuotaFencingToken candidate;

    /** The lease of the former term, until it is known whether another replica led the quotas since. */
    private @Nullable QuotaFencingToken suspended;

    /** Distinguishes the list of pods of this term from those of earlier ones. */
    private long terms;

    private long nextRead;
    private volatile List<String> readinessFailures = List.of();

    /**
     * A replica that is not elected.
     *
     * @param identity that no other process has: a token that two of them share would let both admit
     * @param nanos a monotonic clock
     */
    public QuotaLeader(
            QuotaClient client,
            String identity,
            ActiveLease active,
            QuotaExecutors executors,
            Clock clock,
            LongSupplier nanos) {
        this.identity = identity;
        this.active = active;
        this.clock = clock;
        this.nanos = nanos;
        this.writer = new QuotaStatusWriter(client, active, state, executors, nanos, this);
        this.housekeeping = new QuotaHousekeeping(client, active, state, executors, writer, nanos);
        this.pods = new PodResync(client, state, executors, nanos);
        this.quotas = new QuotaListReader(client, executors, this::read, this::readFailed);
        this.answers = new AdmissionProcessor(state, writer, housekeeping, nanos);
        this.nextRead = nanos.getAsLong();
    }

    /** True while this replica has a lease on the quotas, and that of the active replica. On any thread. */
    boolean isLeader() {
        return lease != null && active.held();
    }

    /** Why this replica, though elected, cannot decide. On any thread. */
    List<String> readinessFailures() {
        return readinessFailures;
    }

    /** Applies an observation of the cluster. */
    void observe(QuotaEvent event) {
        state.apply(event);
    }

    /** One of the inputs, without all of which nothing is decided, is complete. */
    void listed(ClusterSyncPrecondition input) {
        if (missing.remove(input) && missing.isEmpty()) {
            nextRead = nanos.getAsLong();
            tick();
        }
    }

    /** This replica is active. */
    void elected() {
        elected = true;
        // What is being read is older than the election: another replica may have led since.
        quotas.abandon();
        nextRead = nanos.getAsLong();
        tick();
    }

    /**
     * This replica is not active any more, and may be again in a moment. What it reserved still counts if no other one
     * led in between.
     */
    void suspend() {
        elected = false;
        QuotaFencingToken former = lease;
        if (former != null) {
            suspended = former;
        }
        endTerm();
        readinessFailures = List.of();
    }

    private void endTerm() {
        lease = null;
        candidate = null;
        quotas.abandon();
        terms++;
        answers.abandon();
    }

    /**
     * Gives up leadership; lowers the escrow to what is used, so that the next leader carries over nothing more. Completes
     * when that is written or failed.
     */
    CompletionStage<Void> resign() {
        QuotaFencingToken mine = validLease();
        List<String> writing = mine == null ? List.of() : housekeeping.lowerAll(mine);
        elected = false;
        endTerm();
        suspended = null;
        readinessFailures = List.of();
        resigning.addAll(writing);
        completeResignation();
        return resigned;
    }

    private void completeResignation() {
        if (!elected && resigning.isEmpty()) {
            resigned.complete(null);
        }
    }

    private @Nullable QuotaFencingToken validLease() {
        QuotaFencingToken current = lease;
        return current != null && current.isValid(nanos.getAsLong()) && active.held() ? current : null;
    }

    /** Decides on a request; the answer is given once the escrow that it needs is written. */
    void decide(PendingAdmission request) {
        QuotaFencingToken mine = validLease();
        if (mine == null) {
            request.answer().complete(AdmissionProcessor.NOT_LEADER);
        } else {
            answers.decide(mine, request);
        }
    }

    @Override
    public void changed(String quota) {
        resigning.remove(quota);
        completeResignation();
        answers.retry(validLease(), quota);
        pump();
    }

    /** Starts the writes that the last commands asked for. */
    void pump() {
        QuotaFencingToken mine = token();
        if (mine != null) {
            writer.pump(mine);
        }
    }

    private @Nullable QuotaFencingToken token() {
        return candidate == null ? lease : candidate;
    }

    @Override
    public void carriedOver(String quota) {
        pods.carriedOver();
    }

    @Override
    public void superseded(String quota, String leader) {
        LOG.atError()
                .addKeyValue("quota", quota)
                .addKeyValue("leader", leader)
                .log("another replica leads the quotas, stepping down");
        endTerm();
        suspended = null;
        nextRead = nanos.getAsLong() + RENEW_INTERVAL.toNanos();
        readinessFailures = List.of(leader + " leads the quotas; this replica tries again while it is active");
        state.apply(new QuotaEvent.TermStarted());
    }

    /** Runs what is due: acquires leadership, renews the lease, writes what is used. */
    void tick() {
        long now = nanos.getAsLong();
        state.apply(new QuotaEvent.TimePassed(clock.instant()));
        answers.expire(now);
        if (elected && !active.held()) {
            return;
        }
        if (!missing.isEmpty()) {
            readinessFailures = elected
                    ? missing.stream().map(ClusterSyncPrecondition::missing).toList()
                    : List.of();
            return;
        }
        if (!quotas.isReading() && now - nextRead >= 0) {
            nextRead = now + (elected ? RENEW_INTERVAL : READ_AHEAD_INTERVAL).toNanos();
            quotas.read(now);
        }
        QuotaFencingToken mine = validLease();
        if (mine != null) {
            pods.tick();
            housekeeping.writeCounts(mine);
        }
        pump();
    }

    private void readFailed(String message) {
        if (!elected) {
            return;
        }
        String verb = lease == null ? "acquired: " : "renewed: ";
        readinessFailures = List.of("quota leadership cannot be " + verb + message);
        LOG.atWarn().addKeyValue("error", message).log("quotas cannot be listed, retrying");
    }

    private void read(long start, QuotaClient.QuotaList found) {
        Set<String> names = new HashSet<>();
        found.quotas().forEach(quota -> names.add(quota.name()));
        for (String name : List.copyOf(state.quotas().keySet())) {
            if (!names.contains(name)) {
                writer.deleted(name);
                housekeeping.deleted(name);
                changed(name);
            }
        }
        found.quotas().forEach(this::observe);
        if (!elected) {
            return;
        }
        found.unreadable().forEach(writer::report);
        QuotaFencingToken mine = token();
        if (mine == null) {
            begin(start, found.quotas());
        } else {
            renew(start, found.quotas(), mine);
        }
    }

    private void observe(GpuQuota quota) {
        GpuQuota known = state.quotas().get(quota.name());
        if (known == null || !known.resourceVersion().equals(quota.resourceVersion())) {
            housekeeping.changed(quota.name());
        }
        state.apply(new QuotaEvent.QuotaObserved(quota));
    }

    /** Begins a term, which decides at once where a former leader has counted. */
    private void begin(long start, List<GpuQuota> quotas) {
        QuotaFencingToken next = nextLease(quotas, start);
        candidate = next;
        writer.podsListed(false);
        quotas.stream().filter(quota -> !next.leads(quota)).forEach(quota -> writer.request(quota.name()));
        if (quotas.stream().anyMatch(quota -> quota.status().term() > 0)) {
            lead(next);
        }
        listPods();
        pump();
    }

    /** The former lease where nobody led since; else one of a new term, in which nothing is reserved. */
    private QuotaFencingToken nextLease(List<GpuQuota> quotas, long start) {
        QuotaFencingToken former = suspended;
        if (former != null && former.isNewest(quotas)) {
            return former.renewed(start);
        }
        suspended = null;
        state.apply(new QuotaEvent.TermStarted());
        return QuotaFencingToken.nextTerm(identity, quotas, clock.millis(), start);
    }

    private void lead(QuotaFencingToken mine) {
        lease = mine;
        candidate = null;
        suspended = null;
        readinessFailures = List.of();
        housekeeping.compareNext();
        housekeeping.labelNamespaces();
        LOG.atInfo()
                .addKeyValue("term", mine.term())
                .addKeyValue("quotas", state.quotas().size())
                .log("became quota leader");
    }

    private void renew(long start, List<GpuQuota> quotas, QuotaFencingToken mine) {
        for (GpuQuota quota : quotas) {
            switch (mine.acquire(quota)) {
                case Acquisition.Held() -> writer.acquired(quota.name());
                case Acquisition.Write _ -> writer.request(quota.name());
                case Acquisition.Superseded(String leader) -> {
                    superseded(quota.name(), leader);
                    return;
                }
            }
        }
        if (candidate == null) {
            lease = mine.renewed(start);
            readinessFailures = List.of();
            housekeeping.compareNext();
            housekeeping.labelNamespaces();
        } else {
            candidate = mine.renewed(start);
        }
        if (!pods.failure().isEmpty() && !writer.podsListed()) {
            if (candidate != null) {
                readinessFailures = List.of("quota leadership cannot be acquired: " + pods.failure());
            }
            listPods();
        }
    }

    private void listPods() {
        long term = terms;
        pods.list(() -> {
            QuotaFencingToken mine = candidate;
            if (term == terms) {
                writer.podsListed(true);
                pump();
                if (mine != null) {
                    lead(mine);
                }
            }
        });
    }

    List<String> warnings(List<QuotaLimit> limits) {
        return QuotaEvaluator.warnings(state, limits);
    }

    List<QuotaView> views() {
        QuotaFencingToken mine = lease;
        return state.quotas().values().stream()
                .map(quota -> QuotaView.of(state, quota, mine != null && mine.leads(quota)))
                .toList();
    }

    Map<String, List<String>> covering(Set<String> namespaces) {
        return namespaces.stream()
                .collect(Collectors.toMap(
                        Function.identity(),
                        namespace -> state.covering(namespace).stream()
                                .map(GpuQuota::name)
                                .toList()));
    }
}
