package io.gpufleet.health.app.drain;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.drain.PodClient.PodList;
import io.gpufleet.health.app.drain.PodClient.PodResponse;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainPlan;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.DrainProgress.Phase;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.drain.PodDrainAction;
import io.gpufleet.health.model.drain.PodOnNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One step of the drain of one node. What it does to pods it does only for a committed order and a committed begin, so that a
 * decision is on the log before. Never called concurrently for one node.
 */
public final class DrainStep {
    private static final Logger LOG = LoggerFactory.getLogger(DrainStep.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);
    private static final Duration MAX_BACKOFF = Duration.ofMinutes(1);

    private final PodClient pods;
    private final DrainSink sink;
    private final DrainAdmission admission;
    private final Supplier<DrainSettings> settings;
    private final CurrentLease lease;
    private final Clock clock;
    /** By UID of the pod: how often its eviction was refused in a row, and when it is asked for again. */
    private final Map<String, Refusal> refused = new ConcurrentHashMap<>();

    private Supplier<Optional<String>> freeze = Optional::empty;

    private record Refusal(int times, Instant until, String reason) {}

    /**
     * Step over one cluster.
     *
     * @param lease asked immediately before each call that changes something
     */
    public DrainStep(
            PodClient pods,
            DrainSink sink,
            DrainAdmission admission,
            Supplier<DrainSettings> settings,
            CurrentLease lease,
            Clock clock) {
        this.pods = new LeasedPodClient(pods, lease);
        this.sink = sink;
        this.admission = admission;
        this.settings = settings;
        this.lease = lease;
        this.clock = clock;
    }

    /** Names what holds every step back; before the first step. */
    public DrainStep pausedBy(Supplier<Optional<String>> reason) {
        freeze = reason;
        return this;
    }

    /** Does what can be done now; how long to wait for the next step, empty when the next commit asks for it. */
    Optional<Duration> run(NodeState state) {
        DrainProgress progress = state.acting().drain();
        if (freeze.get().isPresent()) {
            return Optional.of(AGAIN);
        }
        if (state.drainOrder().isNone()) {
            return progress.active() || progress.phase() == Phase.WAITING ? stop(state) : Optional.empty();
        }
        return switch (pods.onNode(state.node().name())) {
            case PodList.Listed(List<PodOnNode> listed) -> drain(state, listed);
            case PodList.Unlisted(String reason) -> {
                report(state, progress.phase(), progress.jobs(), "pods cannot be listed: " + reason);
                yield Optional.of(MAX_BACKOFF);
            }
        };
    }

    private Optional<Duration> stop(NodeState state) {
        if (pods.onNode(state.node().name()) instanceof PodList.Listed(List<PodOnNode> listed)) {
            listed.stream().filter(pod -> pod.eviction().isPresent()).forEach(pods::withdrawNotice);
            report(state, Phase.STOPPED, state.acting().drain().jobs(), "ended: no pod has to leave any more");
        }
        return Optional.of(AGAIN);
    }

    private Optional<Duration> drain(NodeState state, List<PodOnNode> listed) {
        Instant now = clock.instant();
        DrainSettings current = settings.get();
        DrainProgress progress = state.acting().drain();
        DrainPlan plan =
                DrainPlan.of(state.drainOrder(), progress, state.acting().holdings(), listed, current, now);
        if (!plan.holdersKnown()) {
            report(state, Phase.WAITING, progress.jobs(), "waits: the daemon has not said yet who holds the GPUs");
            return Optional.of(AGAIN);
        }
        if (plan.done()) {
            // Also where nobody had to leave: a remediation waits for the end of the drain.
            report(state, Phase.DRAINED, progress.jobs(), drained(plan));
            return Optional.of(MAX_BACKOFF);
        }
        boolean asks = plan.steps().stream().anyMatch(PodDrainAction.AskForJob.class::isInstance);
        if (asks && !begin(state, plan.jobsToAskFor(), current, now)) {
            return Optional.of(AGAIN);
        }
        if (!progress.active()) {
            return Optional.of(AGAIN);
        }
        Duration next = AGAIN;
        for (PodDrainAction step : plan.steps()) {
            next = shorter(next, perform(step, now));
        }
        if (!asks) {
            report(state, Phase.ACTIVE, progress.jobs(), summary(plan));
        }
        return Optional.of(next);
    }

    /** Asks to begin, or to go on with more jobs; true when that was recorded. */
    private boolean begin(NodeState state, Collection<String> more, DrainSettings current, Instant now) {
        DrainProgress progress = state.acting().drain();
        Set<String> jobs = new TreeSet<>(progress.jobsSince(current.times().jobInterval(), now));
        jobs.addAll(more);
        Optional<String> refusal = (progress.active()
                        ? Optional.<String>empty()
                        : current.windows().refuse(now))
                .or(() -> admission.admit(state.node().name(), jobs, current, now));
        if (refusal.isPresent()) {
            if (!progress.active()) {
                report(state, Phase.WAITING, progress.jobs(), refusal.get());
            }
            return progress.active();
        }
        return report(
                state,
                Phase.ACTIVE,
                List.copyOf(jobs),
                "begins: " + state.drainOrder().text());
    }

    private Duration perform(PodDrainAction step, Instant now) {
        return switch (step) {
            case PodDrainAction.Leave _, PodDrainAction.AskForJob _ -> AGAIN;
            case PodDrainAction.Wait(PodOnNode _, Instant until) -> until(until, now);
            case PodDrainAction.Notify(PodOnNode pod, Instant at) -> {
                log(pod, pods.giveNotice(pod, at, "evicted at " + at + ": the GPU or its node is out of service"));
                yield until(at, now);
            }
            case PodDrainAction.Evict(PodOnNode pod) -> evict(pod, now);
            case PodDrainAction.Delete(PodOnNode pod) -> {
                log(pod, pods.delete(pod));
                yield AGAIN;
            }
        };
    }

    private Duration evict(PodOnNode pod, Instant now) {
        Refusal before = refused.get(pod.name().uid());
        if (before != null && now.isBefore(before.until())) {
            return until(before.until(), now);
        }
        PodResponse response = pods.evict(pod);
        log(pod, response);
        if (response instanceof PodResponse.Blocked(String reason, Optional<Duration> retryAfter)) {
            int times = before == null ? 1 : before.times() + 1;
            Duration doubled = AGAIN.multipliedBy(1L << Math.min(times - 1, 4));
            Duration backoff = retryAfter
                    .filter(asked -> asked.compareTo(doubled) > 0)
                    .orElse(doubled.compareTo(MAX_BACKOFF) > 0 ? MAX_BACKOFF : doubled);
            refused.put(pod.name().uid(), new Refusal(times, now.plus(backoff), reason));
            return backoff;
        }
        refused.remove(pod.name().uid());
        return AGAIN;
    }

    private static void log(PodOnNode pod, PodResponse response) {
        LOG.atInfo()
                .addKeyValue("pod", pod.name().text())
                .addKeyValue("response", response)
                .log("pod of a drained node");
    }

    /** True when it is on the log, or was before. */
    private boolean report(NodeState state, Phase phase, List<String> jobs, String message) {
        var report = new DrainSink.Report(state.node().uid(), phase, jobs, message);
        String node = state.node().name();
        if (report.isSaidBy(state.acting().drain())) {
            return true;
        }
        boolean sent = lease.call(
                () -> {
                    sink.drainReported(node, report).whenComplete((_, failed) -> {
                        if (failed != null) {
                            admission.withdraw(node);
                        }
                    });
                    return true;
                },
                () -> false);
        if (!sent) {
            admission.withdraw(node);
        }
        return sent;
    }

    /** Without numbers that change by themselves: the same text is not reported again. */
    private String summary(DrainPlan plan) {
        String blocked = plan.remaining().stream()
                .map(step -> refused.get(step.pod().name().uid()))
                .flatMap(refusal -> Optional.ofNullable(refusal).stream())
                .map(Refusal::reason)
                .sorted()
                .findFirst()
                .map(reason -> "; refused: " + reason)
                .orElse("");
        String names = plan.remaining().stream()
                .map(step -> step.pod().name().text())
                .sorted()
                .limit(4)
                .reduce((one, other) -> one + ", " + other)
                .orElse("");
        return plan.remaining().size() + " pods have to leave: " + names + blocked;
    }

    private static String drained(DrainPlan plan) {
        return plan.steps().isEmpty()
                ? "every pod that had to leave has left"
                : "every pod that may be evicted has left; left alone: "
                        + plan.steps().size();
    }

    private static Duration until(Instant at, Instant now) {
        Duration left = Duration.between(now, at);
        return left.compareTo(Duration.ofMillis(200)) < 0 ? Duration.ofMillis(200) : left;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }

    /** Removes what is kept for pods; a new term asks anew. */
    void clear() {
        refused.clear();
    }
}
