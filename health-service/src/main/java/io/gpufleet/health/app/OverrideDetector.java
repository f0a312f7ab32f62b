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
 * reported once.
 */
final class OverrideDetector {
    private final NodeClient nodes;
    private final SignalSink signals;
    private final Clock clock;
    private final Duration confirmAfter;
    private final Map<String, MissingTaint> missingTaints = new ConcurrentHashMap<>();

    /** A taint that was missing in the first read. */
    private record MissingTaint(Instant since, long revision, boolean reported) {}

    /**
     * Result of one read.
     *
     * @param outcome empty when the outcome of the node stays
     */
    record Detection(Duration requeueAfter, Optional<NodeOutcome> outcome) {}

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
        if (missing.reported() || !(fromServer || isMissingOnServer(observed))) {
            return new Detection(confirmAfter, Optional.empty());
        }
        missingTaints.put(observed.name(), new MissingTaint(missing.since(), missing.revision(), true));
        report(observed.name(), plan);
        return new Detection(confirmAfter, Optional.of(new NodeOutcome.RemovedManually(plan.target())));
    }

    private void report(String node, AppliedMissing plan) {
        signals.overrideObserved(node, plan.target(), "unknown", plan.revision())
                .whenComplete((_, failed) -> {
                    if (failed != null) {
                        missingTaints.remove(node);
                    }
                });
    }

    private boolean isMissingOnServer(ObservedNode observed) {
        return nodes.read(observed.name()) instanceof NodeResponse.Succeeded(ObservedNode now)
                && now.uid().equals(observed.uid())
                && !now.applied().taint().isEmpty()
                && now.unhealthyTaint().isEmpty();
    }
}
