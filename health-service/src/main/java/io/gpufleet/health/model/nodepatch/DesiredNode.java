package io.gpufleet.health.model.nodepatch;

import io.gpufleet.health.model.NodeHealth;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.presence.Presence;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Our fields of the Node as they should be: a function of the verdict, and of nothing else.
 *
 * @param revisions of the verdict
 * @param nodeUid Node object for which it was reached; empty while unknown
 * @param taint value of the taint; empty for none
 * @param cordon true when the Node has to be unschedulable
 * @param label {@code quarantined} by an operator, {@code unhealthy} by a fault, {@code degraded} when only devices are
 *     withdrawn; empty for a node without problem
 * @param recommendedAction for an operator; empty for none
 * @param condition the condition; its status is {@code True} while something is out of service, and otherwise {@code Unknown}
 *     while the node is not heard
 */
public record DesiredNode(
        NodeState.Revisions revisions,
        String nodeUid,
        String taint,
        boolean cordon,
        String label,
        String recommendedAction,
        Condition condition) {
    private static final int MAX_LISTED_DEVICES = 8;
    private static final String HEALTHY = "every GPU may be used";

    /** Desired Node of a verdict. */
    public static DesiredNode of(Verdict verdict) {
        List<Verdict.DeviceVerdict> withdrawn = verdict.unavailable();
        NodeHealth health = verdict.health();
        List<Verdict.DeviceVerdict> heldBack = verdict.devices().stream()
                .filter(device -> !device.heldBack().isEmpty())
                .toList();
        boolean problem = health.outOfService() || !withdrawn.isEmpty() || !heldBack.isEmpty();
        // What is held back appears in the condition only.
        boolean acted = !withdrawn.isEmpty()
                || (health.outOfService() && verdict.heldBack().isEmpty());
        Condition condition = problem
                ? new Condition("True", health.reason(), message(verdict, withdrawn, heldBack))
                : withoutProblem(verdict.node().presence());
        return new DesiredNode(
                verdict.revisions(),
                verdict.node().uid(),
                !verdict.trusted() && health.nodeAction().taints() ? health.reason() : "",
                !verdict.trusted() && health.nodeAction().cordons(),
                label(verdict, acted),
                acted ? recommendedAction(health) : "",
                condition);
    }

    private static Condition withoutProblem(Presence presence) {
        return presence.reason().isEmpty()
                ? new Condition("False", "GpusHealthy", HEALTHY)
                : new Condition("Unknown", presence.reason(), presence.message());
    }

    /** Why the fields are what they are, one line; that nothing is heard changes no field. */
    public String why() {
        return condition.status().equals("Unknown") ? HEALTHY : condition.message();
    }

    /** Revision of the verdict. */
    public long revision() {
        return revisions.verdict();
    }

    /** True when the Node should have none of our fields. */
    public boolean isEmpty() {
        return taint.isEmpty() && !cordon && label.isEmpty() && recommendedAction.isEmpty();
    }

    private static String label(Verdict verdict, boolean acted) {
        if (!verdict.trusted()) {
            return verdict.health().state() == HealthState.QUARANTINED ? "quarantined" : "unhealthy";
        }
        return acted ? "degraded" : "";
    }

    private static String recommendedAction(NodeHealth health) {
        return health.recommendedAction() == RecommendedAction.NONE
                ? ""
                : health.recommendedAction().slug();
    }

    private static String message(
            Verdict verdict, List<Verdict.DeviceVerdict> withdrawn, List<Verdict.DeviceVerdict> heldBack) {
        String action = recommendedAction(verdict.health());
        boolean overridden = verdict.health().outOfService()
                && verdict.trusted()
                && verdict.heldBack().isEmpty();
        return (withdrawn.isEmpty() ? verdict.health().reason() : devices(withdrawn))
                + (action.isEmpty() ? "" : "; recommended action: " + action)
                + (overridden
                        ? "; manual override: " + verdict.health().nodeAction().undone()
                        : "")
                + (verdict.heldBack().isEmpty()
                        ? ""
                        : "; would " + verdict.health().nodeAction().verb() + ": " + verdict.heldBack())
                + (heldBack.isEmpty()
                        ? ""
                        : "; would withdraw " + heldBack.size() + (heldBack.size() == 1 ? " GPU: " : " GPUs: ")
                                + heldBack.getFirst().heldBack());
    }

    private static String devices(List<Verdict.DeviceVerdict> withdrawn) {
        String listed = withdrawn.stream()
                .limit(MAX_LISTED_DEVICES)
                .map(device -> device.uuid() + " " + device.reason())
                .collect(Collectors.joining(", "));
        String more = withdrawn.size() > MAX_LISTED_DEVICES
                ? " and " + (withdrawn.size() - MAX_LISTED_DEVICES) + " more"
                : "";
        return withdrawn.size() + (withdrawn.size() == 1 ? " GPU" : " GPUs") + " out of service: " + listed + more;
    }
}
