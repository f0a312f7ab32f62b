package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.Answer;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.PodAsk;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the deciding replica does with the quota objects: takes them over, raises the escrow, proves, counts. */
public final class QuotaTerm {
    /** Label of namespaces whose webhook fails closed. */
    public static final String LABEL = "gpufleet.io/quota";

    private static final Logger LOG = LoggerFactory.getLogger(QuotaTerm.class);
    private static final int ATTEMPTS = 5;
    private static final Duration HOUSEKEEPING = Duration.ofSeconds(2);
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final String NOT_DECIDING = "this replica of allocation-service does not decide now; ask again";

    /** A pod to decide on. */
    record Question(PodAsk pod, boolean dryRun, CompletableFuture<Answer> answer) {}

    private final Cluster cluster;
    private final QuotaBook book;
    private final String instance;
    private final Clock clock;
    private final LongSupplier nanos;
    private final Map<String, Long> raisedAt = new HashMap<>();
    private boolean wanted;
    private volatile @Nullable Tenure tenure;
    private long nextHousekeeping;
    private long asideSince;
    private volatile List<String> notReady = List.of();

    /** A term that has not begun. */
    public QuotaTerm(Cluster cluster, QuotaBook book, String instance, Clock clock, LongSupplier nanos) {
        this.cluster = cluster;
        this.book = book;
        this.instance = instance;
        this.clock = clock;
        this.nanos = nanos;
    }

    boolean decides() {
        return tenure != null;
    }

    List<String> notReady() {
        return notReady;
    }

    /** The election says that this replica decides. */
    void wanted() {
        wanted = true;
        if (tenure == null) {
            takeOver();
        }
    }

    /** It decides no more; in good order it leaves no more escrow than is used. */
    void given() {
        if (tenure != null && tenure.holds(nanos.getAsLong())) {
            try {
                settleCounts(true);
            } catch (ClusterException failed) {
                LOG.atWarn().addKeyValue("error", failed.getMessage()).log("escrow is left to the successor");
            }
        }
        wanted = false;
        tenure = null;
        notReady = List.of();
        book.newTerm();
    }

    private void takeOver() {
        try {
            long start = nanos.getAsLong();
            List<GpuQuota> quotas = cluster.quotas();
            long newest = quotas.stream()
                    .mapToLong(quota -> quota.status().term())
                    .max()
                    .orElse(0);
            long term = Math.max(newest + 1, clock.millis());
            var next = new Tenure(instance + "@" + term, term, start);
            book.newTerm();
            for (GpuQuota quota : quotas) {
                book.quota(quota);
                if (!hold(quota, next)) {
                    return;
                }
            }
            cluster.gpuPods().forEach(book::pod);
            tenure = next;
            notReady = List.of();
            LOG.atInfo()
                    .addKeyValue("term", term)
                    .addKeyValue("quotas", quotas.size())
                    .log("decides on quotas");
        } catch (ClusterException failed) {
            notReady = List.of("quotas can not be taken over: " + failed.getMessage());
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("quotas can not be taken over, trying again");
        }
    }

    /** Writes the token into a quota; false when another replica with a higher term has it. */
    private boolean hold(GpuQuota found, Tenure mine) throws ClusterException {
        GpuQuota quota = found;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (quota.status().holder().equals(mine.token())) {
                return true;
            }
            if (quota.status().term() > mine.term()) {
                lost(quota);
                return false;
            }
            switch (cluster.writeStatus(quota.with(quota.status().heldBy(mine.token(), mine.term())))) {
                case Cluster.Written.Done(GpuQuota held) -> {
                    book.quota(held);
                    book.setAside(held);
                    asideSince = nanos.getAsLong();
                    return true;
                }
                case Cluster.Written.Conflict() -> {
                    Optional<GpuQuota> again = cluster.quotas().stream()
                            .filter(other -> other.name().equals(found.name()))
                            .findFirst();
                    if (again.isEmpty()) {
                        book.quotaGone(found.name());
                        return true;
                    }
                    quota = again.get();
                }
            }
        }
        throw new ClusterException("gpuquota/" + found.name() + " is written by others all the time");
    }

    private void lost(GpuQuota quota) {
        LOG.atError()
                .addKeyValue("quota", quota.name())
                .addKeyValue("holder", quota.status().holder())
                .log("another replica decides on quotas, this one stops");
        tenure = null;
        wanted = false;
        notReady = List.of("quotas are decided by " + quota.status().holder() + "; this replica waits for an election");
        book.newTerm();
    }

    /** Answers all, after one write for each quota whose escrow has to grow. */
    void answer(List<Question> questions) {
        Map<Question, Answer> answers = new HashMap<>();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            answers.clear();
            if (tenure == null || !tenure.holds(nanos.getAsLong())) {
                break;
            }
            for (Question question : questions) {
                answers.put(question, book.decide(question.pod(), question.dryRun(), nanos.getAsLong()));
            }
            try {
                if (raised(questions) && tenure != null && tenure.holds(nanos.getAsLong())) {
                    book.told();
                    answers.forEach((question, answer) -> question.answer().complete(answer));
                    return;
                }
                book.untold();
                prove();
            } catch (ClusterException failed) {
                LOG.atWarn().addKeyValue("error", failed.getMessage()).log("escrow could not be raised");
                book.untold();
                break;
            }
        }
        book.untold();
        var unavailable = new Answer.Unavailable(NOT_DECIDING);
        questions.forEach(question -> question.answer().complete(unavailable));
    }

    /** False when a quota was written by somebody else in between: everything has to be decided again. */
    private boolean raised(List<Question> questions) throws ClusterException {
        var concerned = new ArrayList<GpuQuota>();
        questions.stream()
                .map(question -> question.pod().namespace())
                .distinct()
                .flatMap(namespace -> book.covering(namespace).stream())
                .distinct()
                .filter(quota -> quota.mode() == GpuQuota.Mode.ENFORCE)
                .forEach(concerned::add);
        for (GpuQuota quota : concerned) {
            if (tenure == null || !quota.status().holder().equals(tenure.token())) {
                return false;
            }
            QuotaStatus needed = book.needed(quota);
            if (!needed.equals(quota.status())) {
                if (!write(quota.with(needed))) {
                    return false;
                }
                raisedAt.put(quota.name(), nanos.getAsLong());
            }
        }
        return true;
    }

    private boolean write(GpuQuota quota) throws ClusterException {
        return switch (cluster.writeStatus(quota)) {
            case Cluster.Written.Done(GpuQuota written) -> {
                book.quota(written);
                yield true;
            }
            case Cluster.Written.Conflict() -> false;
        };
    }

    /** Reads every quota, and finds the own token in each or writes it there. */
    private void prove() throws ClusterException {
        Tenure mine = tenure;
        if (mine == null) {
            return;
        }
        long start = nanos.getAsLong();
        List<GpuQuota> found = cluster.quotas();
        for (GpuQuota known : book.quotas()) {
            if (found.stream().noneMatch(quota -> quota.name().equals(known.name()))) {
                book.quotaGone(known.name());
            }
        }
        for (GpuQuota quota : found) {
            book.quota(quota);
            if (!hold(quota, mine)) {
                return;
            }
        }
        tenure = mine.proven(start);
    }

    /** Time passed: take over what could not be had before, prove, count. */
    void tick() {
        long now = nanos.getAsLong();
        if (!wanted || now - nextHousekeeping < 0) {
            return;
        }
        nextHousekeeping = now + HOUSEKEEPING.toNanos();
        if (tenure == null) {
            takeOver();
            return;
        }
        try {
            prove();
            release();
            if (tenure != null) {
                settleCounts(false);
                for (var label : book.labelsToSet(LABEL).entrySet()) {
                    cluster.labelNamespace(label.getKey(), label.getValue());
                }
            }
            notReady = List.of();
        } catch (ClusterException failed) {
            notReady = List.of("quotas can not be kept: " + failed.getMessage());
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("quotas can not be kept, trying again");
        }
    }

    /** What was admitted long enough ago and has no pod will never have one. */
    private void release() throws ClusterException {
        long due = nanos.getAsLong() - Tenure.UNSEEN.toNanos();
        boolean asideDue = book.hasAside() && asideSince - due < 0;
        if (asideDue || book.reservedBefore(due)) {
            cluster.gpuPods().forEach(book::pod);
            book.release(due);
            if (asideDue) {
                book.nothingAside();
            }
        }
    }

    private void settleCounts(boolean now) throws ClusterException {
        for (GpuQuota quota : book.quotas()) {
            long quiet = nanos.getAsLong() - raisedAt.getOrDefault(quota.name(), nanos.getAsLong() - IDLE.toNanos());
            QuotaStatus counted = book.counted(quota, now || quiet >= IDLE.toNanos());
            if (!counted.equals(quota.status()) && !write(quota.with(counted))) {
                LOG.atDebug().addKeyValue("quota", quota.name()).log("written by somebody else, counted again soon");
            }
        }
    }

    List<QuotaView> views() {
        return book.quotas().stream().map(this::view).toList();
    }

    private QuotaView view(GpuQuota quota) {
        return new QuotaView(
                quota.name(),
                quota.mode() == GpuQuota.Mode.ENFORCE ? "Enforce" : "Warn",
                tenure != null && quota.status().holder().equals(tenure.token()),
                quota.limits().stream().map(limit -> row(quota, limit)).toList());
    }

    private QuotaView.Row row(GpuQuota quota, QuotaLimit limit) {
        return new QuotaView.Row(
                limit.model(),
                limit.gpus(),
                book.used(quota, limit),
                quota.status().escrow().getOrDefault(limit.model(), 0));
    }
}
