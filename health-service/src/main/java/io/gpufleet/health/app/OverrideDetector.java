package io.gpufleet.health.app;

import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.nodepatch.NodePatchPlan.AppliedMissing;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Detects manual overrides: an applied taint that is missing in two reads, the second one from the API server. It is
 * reported once. What another controller removed is no override: it is applied again, {@value #MAX_REPAIRS} times an hour.
 */
final class OverrideDetector {
    private static final int MAX_REPAIRS = 3;
    private static final Duration REPAIRS_WITHIN = Duration.ofHours(1);

    private final NodeClient nodes;
    private final SignalSink signals;
    private final Clock clock;
    private final Duration confirmAfter;
    private final Map<String, MissingTaint> missingTaints = new ConcurrentHashMap<>();
    private final Map<String, Repairs> repairs = new ConcurrentHashMap<>();

    /** How often the taint of a node was applied again since then. */
    private record Repairs(Instant since, int count) {}

    /**
     * A taint that was missing in the first read.
     *
     * @param remover field manager that wrote the taints last by then: until the second read others may write them, too
     * @param byController true when that is a controller
     */
    private record MissingTaint(Instant since, long revision, String remover, boolean byController, boolean reported) {
        MissingTaint(Instant since, AppliedMissing plan, ObservedNode observed) {
            this(
                    since,
                    plan.revision(),
                    plan.target().equals(AppliedMissing.TAINT) ? observed.base().taintRemover() : "",
                    plan.removedByController(observed),
                    false);
        }

        MissingTaint asReported() {
            return new MissingTaint(since, revision, remover, byController, true);
        }
    }

    /**
     * A Node to which the taint has to be applied again.
     *
     * @param remover field manager that removed it
     */
    record Wiped(ObservedNode node, String remover) {}

    /**
     * Result of one read.
     *
     * @param outcome empty when the outcome of the node stays
     */
    record Detection(Duration requeueAfter, Optional<NodeOutcome> outcome, Optional<Wiped> repair) {
        Detection(Duration requeueAfter, Optional<NodeOutcome> outcome) {
            this(requeueAfter, outcome, Optional.empty());
        }
    }

    OverrideDetector(NodeClient nodes, SignalSink signals, Clock clock, Duration confirmAfter) {
        this.nodes = nodes;
        this.signals = signals;
        this.clock = clock;
        this.confirmAfter = confirmAfter;
    }

    /** The applied taint is present, or none is applied. */
    void notMissing(String node) {
        missingTaints.remove(node);
    }

    /**
     * The applied taint is missing.
     *
     * @param fromServer true when the Node was just read from the API server
     */
    Detection missing(ObservedNode observed, AppliedMissing plan, boolean fromServer) {
        Instant now = clock.instant();
        MissingTaint missing = missingTaints.get(observed.name());
        if (missing == null || missing.revision() != plan.revision()) {
            missingTaints.put(observed.name(), new MissingTaint(now, plan, observed));
            return new Detection(confirmAfter, Optional.of(new NodeOutcome.Missing(plan.target(), confirmAfter)));
        }
        Duration left = Duration.between(now, missing.since().plus(confirmAfter));
        if (left.isPositive()) {
            return new Detection(left, Optional.empty());
        }
        Optional<ObservedNode> confirmed = fromServer ? Optional.of(observed) : missingOnServer(observed, plan);
        if (missing.reported() || confirmed.isEmpty()) {
            return new Detection(confirmAfter, Optional.empty());
        }
        if (missing.byController()) {
            return removedByController(confirmed.get(), plan, missing.remover(), now);
        }
        missingTaints.put(observed.name(), missing.asReported());
        report(observed.name(), plan, missing.remover());
        return new Detection(confirmAfter, Optional.of(new NodeOutcome.RemovedManually(plan.target())));
    }

    private Detection removedByController(ObservedNode observed, AppliedMissing plan, String remover, Instant now) {
        Repairs done = repairs.compute(
                observed.name(),
                (_, known) -> known == null || !now.isBefore(known.since().plus(REPAIRS_WITHIN))
                        ? new Repairs(now, 1)
                        : new Repairs(known.since(), known.count() + 1));
        if (done.count() <= MAX_REPAIRS) {
            missingTaints.remove(observed.name());
            return new Detection(confirmAfter, Optional.empty(), Optional.of(new Wiped(observed, remover)));
        }
        return new Detection(
                REPAIRS_WITHIN, Optional.of(new NodeOutcome.RemovedByController(plan.target(), remover, MAX_REPAIRS)));
    }

    private void report(String node, AppliedMissing plan, String remover) {
        String by = remover.isEmpty() ? "unknown" : remover;
        signals.overrideObserved(node, plan.target(), by, plan.revision()).whenComplete((_, failed) -> {
            if (failed != null) {
                missingTaints.remove(node);
            }
        });
    }

    private Optional<ObservedNode> missingOnServer(ObservedNode observed, AppliedMissing plan) {
        return nodes.read(observed.name()) instanceof NodeResponse.Succeeded(ObservedNode now)
                        && now.uid().equals(observed.uid())
                        && plan.missingOn(now)
                ? Optional.of(now)
                : Optional.empty();
    }

    /** Removes what is kept for a node. */
    void forget(String node) {
        missingTaints.remove(node);
        repairs.remove(node);
    }
}
