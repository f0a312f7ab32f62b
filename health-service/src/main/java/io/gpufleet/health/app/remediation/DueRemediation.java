package io.gpufleet.health.app.remediation;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.Remediation.Target;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Remediation that is due for a node: the most severe recommended action that the policy leaves to executors, once its
 * pods have left, and as often as the escalation allows; where nothing is left to repair, the proof that GPUs work.
 */
final class DueRemediation {
    /** A GPU that did not pass so often stays out of service until a person releases it. */
    private static final int VALIDATIONS = 2;

    private final NodeState state;
    private final HealthPolicy policy;

    DueRemediation(NodeState state, HealthPolicy policy) {
        this.state = state;
        this.policy = policy;
    }

    /** Empty when nothing is due, or it has to wait. */
    Optional<Remediation> at(Instant now) {
        if (state.node().absent() || state.boot().id().isEmpty()) {
            return Optional.empty();
        }
        return Stream.concat(
                        out().map(device -> device.health().recommendedAction()),
                        nodeFaults().isEmpty()
                                ? Stream.empty()
                                : Stream.of(state.health().recommendedAction()))
                .filter(policy.remediation().actions()::contains)
                .max(Comparator.naturalOrder())
                .flatMap(action -> request(action, now))
                .or(() -> validation(now))
                .filter(wanted -> !disturbs(wanted)
                        || policy.remediation().windows().refuse(now).isEmpty())
                .filter(wanted -> state.forbids(wanted).isEmpty())
                .filter(this::podsHaveLeft);
    }

    /** A boot ends every pod of the node, and somebody has to come for a replacement. */
    private static boolean disturbs(Remediation wanted) {
        return wanted.boots() || wanted.action() == RecommendedAction.REPLACE;
    }

    private Optional<Remediation> request(RecommendedAction action, Instant now) {
        List<Device> devices = out().filter(device -> device.health().recommendedAction() == action)
                .toList();
        List<Episode> faults = devices.isEmpty()
                ? nodeFaults()
                : devices.stream()
                        .flatMap(device -> withdrawing(device.episodes().values().stream()))
                        .toList();
        Optional<Episode> oldest = faults.stream()
                .min(Comparator.comparing(Episode::since)
                        .thenComparing(episode -> episode.code().slug()));
        if (oldest.isEmpty()) {
            return Optional.empty();
        }
        int made = made(devices, action, oldest.get().since());
        var target = new Target(state.node().uid(), state.boot().id(), remediated(devices));
        var wanted = new Remediation(
                target,
                action,
                oldest.get().code().slug(),
                made + 1,
                now.plus(policy.remediation().deadline()),
                faults.stream().map(Episode::eventId).toList());
        boolean onlyOfNode = devices.isEmpty() && !wanted.boots();
        return onlyOfNode || made >= policy.escalation().attempts(action)
                ? Optional.empty()
                : Optional.of(afterFormer(wanted));
    }

    /** Of the GPUs whose dwell is over, and which wait for nothing else. */
    private Optional<Remediation> validation(Instant now) {
        List<Device> waiting = state.devices().values().stream()
                .filter(device -> state.awaitsValidation(device, policy.remediation()))
                .filter(device -> !now.isBefore(device.health()
                        .since()
                        .plus(policy.recoveryDwell(device.health().reason()))))
                .filter(device -> made(
                                List.of(device),
                                RecommendedAction.VALIDATE,
                                device.health().since())
                        < VALIDATIONS)
                .toList();
        return waiting.stream()
                .min(Comparator.comparing((Device device) -> device.health().since())
                        .thenComparing(Device::uuid))
                .map(first -> afterFormer(new Remediation(
                        new Target(state.node().uid(), state.boot().id(), remediated(waiting)),
                        RecommendedAction.VALIDATE,
                        first.health().reason() + " ended " + first.health().since(),
                        1,
                        now.plus(policy.remediation().deadline()),
                        List.of())));
    }

    private static List<RemediatedDevice> remediated(List<Device> devices) {
        return devices.stream()
                .map(device ->
                        new RemediatedDevice(device.uuid(), device.identity().serial()))
                .toList();
    }

    /** One that ended is not asked for again under its name. */
    private Remediation afterFormer(Remediation wanted) {
        Remediation former = state.acting().remediation().remediation();
        return former.repeats(wanted) && former.attempt() >= wanted.attempt()
                ? wanted.withAttempt(former.attempt() + 1)
                : wanted;
    }

    private int made(List<Device> devices, RecommendedAction action, Instant since) {
        Stream<RepairHistory> histories = devices.isEmpty()
                ? Stream.of(state.faults().history())
                : devices.stream().map(Device::history);
        return histories
                .mapToInt(history -> history.made(action, policy.escalation().within(), since))
                .max()
                .orElse(0);
    }

    /** A drain that the rules ask for is over, and nobody holds what the action concerns. */
    private boolean podsHaveLeft(Remediation wanted) {
        Holdings holdings = state.acting().holdings();
        List<String> devices = wanted.boots()
                ? List.copyOf(state.devices().keySet())
                : wanted.target().devices().stream().map(RemediatedDevice::uuid).toList();
        boolean drained = state.health().drain().isNone()
                ? holdings.complete()
                : !state.drainOrder().isNone() && state.acting().drain().phase() == DrainProgress.Phase.DRAINED;
        return drained && !holdings.heldByAny(devices);
    }

    /** Devices that faults keep out of service, by the policy and by nobody's hand. */
    private Stream<Device> out() {
        return state.devices().values().stream()
                .filter(device -> device.health() instanceof DeviceHealth.Unhealthy
                        || device.health() instanceof DeviceHealth.Lost)
                .filter(state::withdrawn);
    }

    private List<Episode> nodeFaults() {
        return withdrawing(state.episodes().values().stream()).toList();
    }

    private Stream<Episode> withdrawing(Stream<Episode> open) {
        return open.filter(Episode::acts)
                .filter(episode -> policy.rule(episode).faultClass().withdraws());
    }
}
