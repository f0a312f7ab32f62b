package io.gpufleet.health.app.remediation;

import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.remediation.RemediationClient.Absent;
import io.gpufleet.health.app.remediation.RemediationClient.Failed;
import io.gpufleet.health.app.remediation.RemediationClient.Found;
import io.gpufleet.health.app.remediation.RemediationClient.LeaseEnded;
import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.app.remediation.RemediationClient.RemediationResponse;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationAdmission;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * One step of the remediation of one node. An object is made for a committed request only, so that a decision is on the log
 * before, and its name makes it one object for ever. Never called concurrently for one node.
 */
public final class RemediationReconciler {
    private static final Duration AGAIN = Duration.ofSeconds(10);
    private static final Duration LATER = Duration.ofMinutes(1);
    /** A claim that nobody acts upon, nor says anything about, for so long is that of an executor that died. */
    static final Duration BEGUN_WITHIN = Duration.ofMinutes(10);
    /** An object that could not be ended for so long is left to its deadline. */
    private static final Duration ENDED_WITHIN = Duration.ofDays(1);

    private final RemediationClient client;
    private final RemediationProgressSink sink;
    private final RemediationAdmission admission;
    private final Supplier<HealthPolicy> policy;
    private final CurrentLease lease;
    private final Clock clock;
    /** Names of objects that were seen to have ended. */
    private final Set<String> ended = ConcurrentHashMap.newKeySet();

    private Supplier<Optional<String>> freeze = Optional::empty;

    /**
     * Step over one cluster.
     *
     * @param lease asked immediately before each call
     */
    public RemediationReconciler(
            RemediationClient client,
            RemediationProgressSink sink,
            RemediationAdmission admission,
            Supplier<HealthPolicy> policy,
            CurrentLease lease,
            Clock clock) {
        this.client = client;
        this.sink = sink;
        this.admission = admission;
        this.policy = policy;
        this.lease = lease;
        this.clock = clock;
    }

    /** Names what holds every step back; before the first step. */
    public RemediationReconciler pausedBy(Supplier<Optional<String>> reason) {
        freeze = reason;
        return this;
    }

    /** Does what can be done now; how long to wait for the next step. */
    Optional<Duration> run(NodeState state) {
        RemediationProgress progress = state.acting().remediation();
        if (progress.open()) {
            Optional<String> held = freeze.get().or(() -> state.forbids(progress.remediation()));
            held.ifPresentOrElse(by -> takeBack(state, by), () -> follow(state));
            return Optional.of(AGAIN);
        }
        if (!endedObject(progress)) {
            return Optional.of(AGAIN);
        }
        if (freeze.get().isEmpty()) {
            new DueRemediation(state, policy.get())
                    .at(clock.instant())
                    .filter(_ ->
                            admission.admit(state.node().name(), policy.get().remediation(), clock.instant()))
                    .ifPresent(wanted -> report(state, wanted, Phase.REQUESTED, "asked for: " + wanted.text()));
        }
        return Optional.of(LATER);
    }

    private void follow(NodeState state) {
        RemediationProgress progress = state.acting().remediation();
        Remediation remediation = progress.remediation();
        boolean requested = progress.phase() == Phase.REQUESTED;
        RemediationResponse response = requested
                ? whileHeld(() -> client.create(state.node().name(), remediation))
                : whileHeld(() -> client.find(remediation));
        if (response instanceof Found claimed && abandoned(claimed, progress)) {
            response = whileHeld(() -> client.end(
                    remediation, claimed, ObjectPhase.FAILED, "claimed, but not begun within " + BEGUN_WITHIN));
        }
        switch (response) {
            case Found found
            when requested && found.phase().ended() ->
                report(state, remediation, Phase.WITHDRAWN, "an object of its name has ended before");
            case Found found
            when found.phase() == ObjectPhase.SUCCEEDED && remediation.validates() ->
                report(state, remediation, Phase.SUCCEEDED, found.executor() + " proved it: " + found.message());
            case Found found
            when found.phase() == ObjectPhase.FAILED ->
                report(state, remediation, Phase.FAILED, found.executor() + " gave up: " + found.message());
            case Found found -> report(state, remediation, Phase.CREATED, text(found));
            case Absent _ ->
                report(
                        state,
                        remediation,
                        progress.phase(),
                        requested
                                ? "cannot be made: there is no CustomResourceDefinition GpuRemediation"
                                : "somebody deleted its object; it is not made again before " + remediation.deadline());
            case Failed(String reason)
            when requested -> report(state, remediation, Phase.REQUESTED, "cannot be made: " + reason);
            // What was seen before stays said: an API server that is away for a moment is no news of the executor.
            case Failed _, LeaseEnded _ -> {}
        }
    }

    /** An executor writes that it begins before it acts, which is refused once the object has ended. */
    private boolean abandoned(Found found, RemediationProgress progress) {
        return found.phase() == ObjectPhase.CLAIMED
                && text(found).equals(progress.message())
                && !clock.instant().isBefore(progress.at().plus(BEGUN_WITHIN));
    }

    private static String text(Found found) {
        String word = found.message().isEmpty() ? "" : ": " + found.message();
        return switch (found.phase()) {
            case PENDING -> "waits for an executor";
            case CLAIMED -> "claimed by " + found.executor() + word;
            case RUNNING -> found.executor() + " works on it" + word;
            case SUCCEEDED -> found.executor() + " says that it is done; its effect was not seen yet";
            case FAILED, TIMED_OUT, WITHDRAWN -> "its object was ended; its deadline counts";
        };
    }

    /** Deletes an object that nobody claimed; an executor that works already is not disturbed. */
    private void takeBack(NodeState state, String by) {
        Remediation remediation = state.acting().remediation().remediation();
        RemediationResponse response = whileHeld(() -> client.find(remediation));
        if (response instanceof Found found && found.phase() == ObjectPhase.PENDING) {
            response = whileHeld(() -> client.end(remediation, found, ObjectPhase.WITHDRAWN, by));
        }
        switch (response) {
            case Found found
            when found.phase() == ObjectPhase.WITHDRAWN -> report(state, remediation, Phase.WITHDRAWN, by);
            case Absent _ -> report(state, remediation, Phase.WITHDRAWN, by);
            case Found found ->
                report(state, remediation, Phase.CREATED, text(found) + "; not taken back, though " + by);
            case Failed _, LeaseEnded _ -> {}
        }
    }

    /** True when the object of a remediation that ended has ended too, so that nobody can claim it late. */
    private boolean endedObject(RemediationProgress progress) {
        boolean old = clock.instant().isAfter(progress.at().plus(ENDED_WITHIN));
        Remediation remediation = progress.remediation();
        if (progress.phase() == Phase.NONE || old || ended.contains(remediation.name())) {
            return true;
        }
        boolean known = switch (whileHeld(() -> client.find(remediation))) {
            case Found found when found.phase().ended() -> true;
            case Found found ->
                whileHeld(() -> client.end(remediation, found, objectPhase(progress.phase()), progress.message()))
                        instanceof Found;
            case Absent _ -> true;
            case Failed _, LeaseEnded _ -> false;
        };
        return known && ended.add(remediation.name());
    }

    private static ObjectPhase objectPhase(Phase phase) {
        return switch (phase) {
            case SUCCEEDED -> ObjectPhase.SUCCEEDED;
            case FAILED -> ObjectPhase.FAILED;
            case TIMED_OUT -> ObjectPhase.TIMED_OUT;
            case NONE, REQUESTED, CREATED, WITHDRAWN -> ObjectPhase.WITHDRAWN;
        };
    }

    private void report(NodeState state, Remediation remediation, Phase phase, String message) {
        RemediationProgress known = state.acting().remediation();
        boolean said = known.remediation().equals(remediation)
                && known.phase() == phase
                && known.message().equals(message);
        if (!said) {
            var _ = lease.call(
                    () -> Optional.of(sink.remediationReported(state.node().name(), remediation, phase, message)),
                    Optional::empty);
        }
    }

    /** Removes what is kept of objects; a new term looks anew. */
    void clear() {
        ended.clear();
    }

    private RemediationResponse whileHeld(Supplier<RemediationResponse> call) {
        return lease.call(call, LeaseEnded::new);
    }
}
