package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.CommandIssued;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.Transitions;

/** Effects of operator commands on a node or a device. */
final class OperatorCommands {
    private final Evaluation evaluation;

    OperatorCommands(Evaluation evaluation) {
        this.evaluation = evaluation;
    }

    DecisionContext handle(CommandIssued command) {
        String note = command.user() + ": " + command.reason();
        var context = DecisionContext.of(note, "operator");
        boolean changed = command.device().isEmpty() ? node(command, note) : device(command, note);
        if (!changed) {
            evaluation.recordUnchanged(context, command.device(), Status.RECORDED, "none, nothing to change");
        }
        return context;
    }

    private boolean node(CommandIssued command, String note) {
        boolean quarantined = evaluation.state().quarantine() != null;
        return switch (command.command()) {
            case QUARANTINE ->
                !quarantined && emit(new HealthEvent.QuarantineChanged(new Quarantine(evaluation.at(), note)));
            case RELEASE -> quarantined && emit(new HealthEvent.QuarantineChanged(null));
            case RETIRE -> false;
        };
    }

    private boolean device(CommandIssued command, String note) {
        if (command.command() != HealthSignal.Command.QUARANTINE
                && evaluation.state().device(command.device()).isEmpty()) {
            return false;
        }
        DeviceHealth before = evaluation
                .state()
                .device(command.device())
                .map(Device::health)
                .orElseGet(() -> new DeviceHealth.Healthy(evaluation.at()));
        DeviceHealth after = switch (command.command()) {
            case QUARANTINE -> Transitions.quarantine(before, note, evaluation.at());
            case RELEASE -> Transitions.release(before, evaluation.at());
            case RETIRE -> Transitions.retire(before, note, evaluation.at());
        };
        return !after.equals(before) && emit(new HealthEvent.DeviceHealthChanged(command.device(), after));
    }

    private boolean emit(HealthEvent event) {
        evaluation.emit(event);
        return true;
    }
}
