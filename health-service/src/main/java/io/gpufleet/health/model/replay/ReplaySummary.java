package io.gpufleet.health.model.replay;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.NodeState;
import java.time.Instant;

/**
 * Effects of one policy in a replay.
 *
 * @param taints nodes tainted, each time counted
 * @param withdrawals devices withdrawn, each time counted
 * @param heldBack taints and withdrawals that a budget refused when they were decided
 * @param mostTainted most nodes tainted at one time
 * @param mostAt when there were so many for the first time; {@link Instant#MIN} for never
 */
public record ReplaySummary(
        String policy, long taints, long withdrawals, long heldBack, int mostTainted, Instant mostAt) {
    /** Head of a table of {@link #line}s. */
    public static final String HEAD =
            "%-20s %8s %10s %10s  %s".formatted("POLICY", "TAINTS", "WITHDRAWN", "HELD BACK", "MOST NODES TAINTED");

    /** One line for people, below {@link #HEAD}. */
    public String line() {
        String most = mostTainted == 0 ? "0" : mostTainted + " at " + mostAt;
        return "%-20s %8d %10d %10d  %s".formatted(policy, taints, withdrawals, heldBack, most);
    }

    /** Counts during a replay. */
    static final class Counter {
        private long taints;
        private long withdrawals;
        private long heldBack;
        private int tainted;
        private int mostTainted;
        private Instant mostAt = Instant.MIN;

        void count(NodeState before, DecisionResult result, Instant now) {
            for (Decision decision : result.decisions()) {
                count(decision);
            }
            tainted += (result.state().tainted() ? 1 : 0) - (before.tainted() ? 1 : 0);
            if (tainted > mostTainted) {
                mostTainted = tainted;
                mostAt = now;
            }
        }

        private void count(Decision decision) {
            Decision.Status status = decision.outcome().status();
            if (status == Decision.Status.OVER_BUDGET) {
                heldBack++;
            } else if (status == Decision.Status.ACTED && Decision.takesNodeOut(decision.action())) {
                taints++;
            } else if (status == Decision.Status.ACTED && decision.action().equals(Decision.WITHDRAW)) {
                withdrawals++;
            }
        }

        ReplaySummary summary(String policy) {
            return new ReplaySummary(policy, taints, withdrawals, heldBack, mostTainted, mostAt);
        }
    }
}
