package io.gpufleet.health.model;

import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import java.time.Instant;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Decisions of a state that have to be held back: everything in mode observe, otherwise what is new and has no room in
 * a budget. What an operator keeps out of service is never held back, and a device that is lost or not offered by its
 * daemon is out already.
 */
final class HeldBackDecisions {
    private final NodeState before;
    private final NodeState state;
    private final PermittedActions allowance;
    private final Instant at;
    private final SequencedMap<String, HeldBack> held = new TreeMap<>();
    private int withdrawnNow;

    private HeldBackDecisions(NodeState before, NodeState state, PermittedActions allowance, Instant at) {
        this.before = before;
        this.state = state;
        this.allowance = allowance;
        this.at = at;
    }

    static SequencedMap<String, HeldBack> of(
            NodeState before, NodeState state, PermittedActions allowance, Instant at) {
        var decisions = new HeldBackDecisions(before, state, allowance, at);
        state.devices().values().forEach(decisions::device);
        decisions.node();
        return decisions.held;
    }

    private void device(Device device) {
        if (device.health().trusted()
                || device.health() instanceof DeviceHealth.Quarantined
                || device.health() instanceof DeviceHealth.Retired) {
            return;
        }
        boolean already = before.device(device.uuid()).filter(before::withdrawn).isPresent();
        // What cannot be allocated anyway, or could not before this event, takes nothing more out of service.
        boolean out = device.health() instanceof DeviceHealth.Lost || !state.offered(device) || wasOut(device.uuid());
        Optional<String> refusal = already || out
                ? Optional.empty()
                : moved(device.uuid()).or(() -> allowance.refusesDevices(withdrawnNow + 1));
        refusal(refusal).ifPresentOrElse(by -> hold(device.uuid(), by), () -> withdrawnNow += already || out ? 0 : 1);
    }

    /** The budgets count it as out already. */
    private boolean wasOut(String uuid) {
        return before.device(uuid)
                .filter(known -> known.listed() && (known.lost() || !before.offered(known)))
                .isPresent();
    }

    private void node() {
        if (state.health().state() != HealthState.UNHEALTHY || state.override() != null) {
            return;
        }
        boolean already = before.tainted() && before.health().state() == HealthState.UNHEALTHY;
        refusal(already ? Optional.empty() : moved("").or(allowance::refusesTaint))
                .or(this::devicesInService)
                .ifPresent(by -> hold("", by));
    }

    /** A node of which a device stays in service only because it is held back is not without devices. */
    private Optional<String> devicesInService() {
        boolean noneLeft = state.health().reason().equals(PolicyEvaluator.ALL_GPUS_UNAVAILABLE);
        return noneLeft && !held.isEmpty()
                ? Optional.of(held.firstEntry().getValue().by())
                : Optional.empty();
    }

    /** The budgets are those of the pool which the node leaves with this event; the next tick asks the new ones. */
    private Optional<String> moved(String what) {
        boolean stays = before.node().placement().equals(state.node().placement())
                && before.node().absent() == state.node().absent();
        if (stays) {
            return Optional.empty();
        }
        HeldBack known = before.heldBack().get(what);
        return Optional.of(known == null || known.observed() ? "pool changed" : known.by());
    }

    private Optional<String> refusal(Optional<String> budget) {
        return allowance.mode(state.node().placement().labels()) == Mode.OBSERVE
                ? Optional.of(HeldBack.OBSERVE)
                : budget;
    }

    private void hold(String what, String by) {
        HeldBack known = before.heldBack().get(what);
        held.put(what, new HeldBack(known == null ? at : known.since(), by));
    }
}
