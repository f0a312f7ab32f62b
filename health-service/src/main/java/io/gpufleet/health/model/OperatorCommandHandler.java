package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.CommandIssued;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.Transitions;
import io.gpufleet.health.model.maintenance.Maintenance;
import java.util.Optional;

/** Effects of operator commands on a node or a device. */
public final class OperatorCommandHandler {
    private static final String ONLY_THE_FLEET = "only the fleet has a storm brake and can be frozen";
    private static final String ONLY_A_NODE = "only a node can be forgotten or in maintenance";

    private final Evaluation evaluation;
    private final FaultSignalHandler faults;

    OperatorCommandHandler(Evaluation evaluation, FaultSignalHandler faults) {
        this.evaluation = evaluation;
        this.faults = faults;
    }

    /** Why the command would change nothing, one line; empty when it would change something. */
    public static Optional<String> conflict(NodeState state, Command command, String device) {
        return device.isEmpty() ? nodeConflict(state, command) : deviceConflict(state, command, device);
    }

    private static Optional<String> nodeConflict(NodeState state, Command command) {
        String node = "node " + state.node().name();
        boolean quarantined = state.quarantine() != null;
        return switch (command) {
            case QUARANTINE -> because(quarantined, node + " is quarantined already");
            case RELEASE -> because(!quarantined, node + " is not quarantined");
            case FORGET ->
                because(
                        !state.node().absent(),
                        node + " has a Node object: delete that first, or the node is known again at once");
            case RETIRE, CLEAR -> Optional.of("only a device can be retired or cleared");
            case BEGIN_MAINTENANCE ->
                because(state.manual().maintenance() != null, node + " is in maintenance already");
            case END_MAINTENANCE ->
                because(state.manual().maintenance() == null, node + " is not in maintenance by a command");
            case RESET_BRAKE, FREEZE, UNFREEZE -> Optional.of(ONLY_THE_FLEET);
        };
    }

    private static Optional<String> deviceConflict(NodeState state, Command command, String uuid) {
        Optional<Device> device = state.device(uuid);
        boolean quarantined = device.map(Device::health)
                .filter(DeviceHealth.Quarantined.class::isInstance)
                .isPresent();
        return switch (command) {
            case QUARANTINE -> because(quarantined, "device " + uuid + " is quarantined already");
            case RELEASE -> because(!quarantined, "device " + uuid + " is not quarantined");
            case RETIRE -> because(!quarantined, "device " + uuid + " is not quarantined: quarantine it first");
            case CLEAR ->
                because(
                        device.filter(OperatorCommandHandler::hasHistory).isEmpty(),
                        "device " + uuid + " has no faults to forget");
            case FORGET, BEGIN_MAINTENANCE, END_MAINTENANCE -> Optional.of(ONLY_A_NODE);
            case RESET_BRAKE, FREEZE, UNFREEZE -> Optional.of(ONLY_THE_FLEET);
        };
    }

    private static Optional<String> because(boolean conflict, String line) {
        return conflict ? Optional.of(line) : Optional.empty();
    }

    private static boolean hasHistory(Device device) {
        return device.lost()
                || !device.episodes().isEmpty()
                || (device.presence().learned() && !device.listed())
                || !device.history().attempts().isEmpty();
    }

    DecisionContext handle(CommandIssued command) {
        String note = command.user() + ": " + command.reason();
        var context = DecisionContext.of(note, "operator");
        if (conflict(evaluation.state(), command.command(), command.device()).isPresent()) {
            evaluation.recordUnchanged(context, command.device(), Status.RECORDED, "none, nothing to change");
        } else if (command.device().isEmpty()) {
            node(command, context, note);
        } else {
            device(command, context, note);
        }
        return context;
    }

    private void node(CommandIssued command, DecisionContext context, String note) {
        switch (command.command()) {
            case QUARANTINE ->
                evaluation.emit(new NodeStateChange.QuarantineChanged(
                        new Quarantine(evaluation.at(), note, command.metadata().eventId())));
            case RELEASE -> evaluation.emit(new NodeStateChange.QuarantineChanged(null));
            case FORGET -> evaluation.recordUnchanged(context, "", Status.ACTED, "forget node");
            case BEGIN_MAINTENANCE -> {
                evaluation.emit(new NodeStateChange.MaintenanceChanged(new Maintenance(evaluation.at(), note)));
                evaluation.recordUnchanged(context, "", Status.ACTED, "begin maintenance");
            }
            case END_MAINTENANCE -> {
                evaluation.emit(new NodeStateChange.MaintenanceChanged(null));
                evaluation.recordUnchanged(context, "", Status.ACTED, "end maintenance");
            }
            case RETIRE, CLEAR, RESET_BRAKE, FREEZE, UNFREEZE -> {}
        }
    }

    private void device(CommandIssued command, DecisionContext context, String note) {
        // What an operator says of a device that left is decided as of one that is there.
        boolean left = evaluation.state().hardware().isFormer(command.device());
        if (left) {
            evaluation.emit(new NodeStateChange.DeviceReturned(command.device()));
        }
        DeviceHealth before = evaluation
                .state()
                .device(command.device())
                .map(Device::health)
                .orElseGet(() -> new DeviceHealth.Healthy(evaluation.at()));
        switch (command.command()) {
            case QUARANTINE -> move(command, Transitions.quarantine(before, note, evaluation.at()));
            case RELEASE -> move(command, Transitions.release(before, evaluation.at()));
            case RETIRE -> move(command, Transitions.retire(before, note, evaluation.at()));
            case CLEAR -> {
                evaluation.state().device(command.device()).ifPresent(this::clear);
                evaluation.recordUnchanged(context, command.device(), Status.ACTED, "forget the faults of the device");
            }
            case FORGET, RESET_BRAKE, BEGIN_MAINTENANCE, END_MAINTENANCE, FREEZE, UNFREEZE -> {}
        }
        if (left) {
            faults.stillGone(command.device());
        }
    }

    /** A node is not expected to have a device any more that was cleared while it was absent. */
    private void clear(Device device) {
        faults.forgetDevice(device);
        NodeState.Boot boot = evaluation.state().boot();
        if (device.presence().learned() && !device.listed() && boot.gpus().count() > 0) {
            var gpus = new NodeState.LearnedGpus(
                    boot.gpus().count() - 1,
                    boot.gpus().knownSince(),
                    boot.gpus().daemonForgot());
            evaluation.emit(new NodeStateChange.BootChanged(boot.with(gpus)));
        }
    }

    private void move(CommandIssued command, DeviceHealth after) {
        evaluation.emit(new NodeStateChange.DeviceHealthChanged(command.device(), after));
    }
}
