package io.gpufleet.health.model;

import io.gpufleet.health.model.FoundNode.Condition;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a Node should wear: a function of the verdict, and of nothing else.
 *
 * @param revision of the verdict
 * @param nodeUid Node object for which it was reached; empty while unknown
 * @param taint value of the taint; empty for none
 * @param label {@code quarantined}, {@code degraded}; empty where the node is to be trusted
 * @param nextStep what is due; empty for nothing
 * @param condition the condition; its status is {@code True} while something is out of service
 */
public record WantedMarks(
        long revision, String nodeUid, String taint, String label, String nextStep, Condition condition) {
    private static final int SHOWN = 8;

    /** The marks that follow from a verdict. */
    public static WantedMarks of(Verdict verdict) {
        List<Verdict.OfDevice> withdrawn = verdict.withdrawn();
        boolean problem = verdict.standing().out() || !withdrawn.isEmpty();
        NodeStanding standing = verdict.standing();
        String label = !verdict.trusted() ? "quarantined" : problem ? "degraded" : "";
        String step =
                problem && standing.step() != NextStep.NONE ? standing.step().word() : "";
        Condition condition = problem
                ? new Condition("True", standing.reason(), message(verdict, withdrawn))
                : new Condition("False", "GpusHealthy", "every GPU may be used");
        return new WantedMarks(
                verdict.revision(),
                verdict.nodeUid(),
                verdict.trusted() ? "" : standing.reason(),
                label,
                step,
                condition);
    }

    /** True when the Node is to wear nothing of ours. */
    public boolean none() {
        return taint.isEmpty() && label.isEmpty() && nextStep.isEmpty();
    }

    private static String message(Verdict verdict, List<Verdict.OfDevice> withdrawn) {
        String devices = withdrawn.stream()
                .limit(SHOWN)
                .map(device -> device.uuid() + " " + device.reason())
                .collect(Collectors.joining(", "));
        String more = withdrawn.size() > SHOWN ? " and " + (withdrawn.size() - SHOWN) + " more" : "";
        String count = withdrawn.isEmpty()
                ? verdict.standing().reason()
                : withdrawn.size() + (withdrawn.size() == 1 ? " GPU" : " GPUs") + " out of service: " + devices + more;
        NextStep step = verdict.standing().step();
        String due = step == NextStep.NONE ? "" : "; due: " + step.word();
        boolean overridden = verdict.standing().out() && verdict.trusted();
        return count + due + (overridden ? "; an operator took the taint away" : "");
    }
}
