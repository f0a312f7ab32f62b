package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.HealthSignal.OperatorSpoke;

/** What an operator's words do. */
final class Hands {
    private final Turn turn;

    Hands(Turn turn) {
        this.turn = turn;
    }

    void spoke(OperatorSpoke spoke) {
        String note = spoke.user() + ": " + spoke.reason();
        turn.because(note, "operator");
        boolean heard = spoke.device().isEmpty() ? node(spoke, note) : device(spoke, note);
        if (!heard) {
            turn.onRecord(spoke.device(), "operator", Outcome.RECORDED, "none, nothing to change");
        }
    }

    private boolean node(OperatorSpoke spoke, String note) {
        boolean quarantined = turn.state().quarantine() != null;
        return switch (spoke.word()) {
            case QUARANTINE -> !quarantined && set(new HealthEvent.QuarantineSet(new Quarantine(turn.at(), note)));
            case RELEASE -> quarantined && set(new HealthEvent.QuarantineSet(null));
            case RETIRE -> false;
        };
    }

    private boolean device(OperatorSpoke spoke, String note) {
        if (spoke.word() != HealthSignal.Word.QUARANTINE
                && turn.state().device(spoke.device()).isEmpty()) {
            return false;
        }
        DeviceHealth now = turn.state()
                .device(spoke.device())
                .map(Device::health)
                .orElseGet(() -> new DeviceHealth.Healthy(turn.at()));
        DeviceHealth next = switch (spoke.word()) {
            case QUARANTINE -> Course.quarantine(now, note, turn.at());
            case RELEASE -> Course.release(now, turn.at());
            case RETIRE -> Course.retire(now, note, turn.at());
        };
        return !next.equals(now) && set(new HealthEvent.DeviceMoved(spoke.device(), next));
    }

    private boolean set(HealthEvent event) {
        turn.emit(event);
        return true;
    }
}
