package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.DrainReported;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.drain.DrainProgress;
import java.util.Locale;

/** Drains in the state machine: the order, and its progress. */
final class Drains {
    private static final String RULE = "drain";

    private final Evaluation evaluation;

    Drains(Evaluation evaluation) {
        this.evaluation = evaluation;
    }

    /** Keeps and records how far the drain of this Node object is. */
    DecisionContext handle(DrainReported report, DecisionContext otherwise) {
        NodeState state = evaluation.state();
        DrainProgress before = state.acting().drain();
        boolean acts = report.phase() == DrainProgress.Phase.ACTIVE;
        boolean begins = acts && !before.active();
        // Pods leave until the report that ends it; what only waits prolongs the interval of no job.
        boolean evicts = acts || before.active();
        var next = new DrainProgress(
                report.phase(),
                begins ? evaluation.at() : before.since(),
                evicts ? evaluation.at() : before.at(),
                report.jobs(),
                report.message());
        if (!report.uid().equals(state.node().uid()) || next.saysAs(before)) {
            return otherwise;
        }
        evaluation.emit(new NodeStateChange.DrainChanged(next));
        evaluation.recordUnchanged(
                DecisionContext.of(report.message(), RULE),
                "",
                acts ? Status.ACTED : Status.RECORDED,
                "drain " + report.phase().name().toLowerCase(Locale.ROOT));
        return otherwise;
    }

    /** Records that pods have to leave, would have to, or need not any more. */
    void decide(NodeState before, DecisionContext context) {
        NodeState state = evaluation.state();
        DrainOrder from = before.drainOrder();
        DrainOrder to = state.drainOrder();
        DrainOrder wish = state.health().drain();
        if (!from.equals(to)) {
            evaluation.recordUnchanged(context, "", Status.ACTED, to.isNone() ? "end drain" : "drain " + to.text());
        } else if (to.isNone() && !wish.isNone() && !wish.equals(before.health().drain())) {
            evaluation.recordUnchanged(context, "", heldBackBy(state), "none, would drain " + wish.text());
        }
    }

    private static Status heldBackBy(NodeState state) {
        if (state.override() != null) {
            return Status.OVERRIDDEN;
        }
        return state.heldBack().values().stream()
                .findFirst()
                .map(held -> held.observed() ? Status.OBSERVED : Status.OVER_BUDGET)
                .orElse(Status.RECORDED);
    }
}
