package io.gpufleet.health.app;

import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.model.nodepatch.NodePatchPlan.AppliedMissing;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.PatchBase;
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

    /** A taint that was missing in the first read. */
    private record MissingTaint(Instant since, long revision, boolean reported) {}

    /**
     * Result of one read.
     *
     * @param outcome empty when the outcome of the node stays
     * @param repair the Node to which the taint has to be applied again
     */
    record Detection(Duration requeueAfter, Optional<NodeOutcome> outcome, Optional<ObservedNode> repair) {
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
            missingTaints.put(observed.name(), new MissingTaint(now, plan.revision(), false));
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
        if (plan.removedByController(confirmed.get())) {
            return removedByController(confirmed.get(), plan, now);
        }
        missingTaints.put(observed.name(), new MissingTaint(missing.since(), missing.revision(), true));
        boolean taint = plan.target().equals(AppliedMissing.TAINT);
        report(observed.name(), plan, taint ? confirmed.get().base().taintsManager() : "");
        return new Detection(confirmAfter, Optional.of(new NodeOutcome.RemovedManually(plan.target())));
    }

    private Detection removedByController(ObservedNode observed, AppliedMissing plan, Instant now) {
        Repairs done = repairs.compute(
                observed.name(),
                (_, known) -> known == null || !now.isBefore(known.since().plus(REPAIRS_WITHIN))
                        ? new Repairs(now, 1)
                        : new Repairs(known.since(), known.count() + 1));
        if (done.count() <= MAX_REPAIRS) {
            missingTaints.remove(observed.name());
            return new Detection(confirmAfter, Optional.empty(), Optional.of(observed));
        }
        String manager = observed.base().taintsManager();
        return new Detection(
                REPAIRS_WITHIN, Optional.of(new NodeOutcome.RemovedByController(plan.target(), manager, MAX_REPAIRS)));
    }

    private void report(String node, AppliedMissing plan, String manager) {
        // Our own name stands there when nothing is left of the list.
        String by = manager.isEmpty() || manager.equals(PatchBase.FIELD_MANAGER) ? "unknown" : manager;
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
