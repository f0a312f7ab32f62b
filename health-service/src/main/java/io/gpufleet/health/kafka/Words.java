package io.gpufleet.health.kafka;

import com.google.protobuf.ProtocolMessageEnum;
import io.gpufleet.health.model.FaultCode;
import io.gpufleet.health.model.FaultKind;
import io.gpufleet.health.model.HealthState;
import io.gpufleet.health.model.NextStep;
import io.gpufleet.health.model.RecoveryAction;
import io.gpufleet.proto.health.v1.Fault;
import java.util.Locale;

/** Closed sets on the wire; a value that is newer than this program is "unknown", never an exception. */
final class Words {
    private static final int MOST_NUMBER = 1_000_000;

    private Words() {}

    static FaultCode code(Fault fault) {
        return code(fault.getKind(), fault.getXid());
    }

    static FaultCode code(io.gpufleet.proto.health.v1.FaultKind wire, int number) {
        FaultKind kind = named(FaultKind.class, wire, "FAULT_KIND_", FaultKind.UNKNOWN);
        boolean numbered = kind == FaultKind.XID || kind == FaultKind.SXID;
        return new FaultCode(kind, numbered ? Math.clamp(number, 0, MOST_NUMBER) : 0);
    }

    static io.gpufleet.proto.health.v1.FaultKind toWire(FaultKind kind) {
        return kind == FaultKind.UNKNOWN
                ? io.gpufleet.proto.health.v1.FaultKind.FAULT_KIND_UNSPECIFIED
                : io.gpufleet.proto.health.v1.FaultKind.valueOf("FAULT_KIND_" + kind.name());
    }

    static RecoveryAction action(io.gpufleet.proto.health.v1.RecoveryAction wire) {
        return named(RecoveryAction.class, wire, "RECOVERY_ACTION_", RecoveryAction.UNKNOWN);
    }

    static io.gpufleet.proto.health.v1.RecoveryAction toWire(RecoveryAction action) {
        return action == RecoveryAction.UNKNOWN
                ? io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_UNSPECIFIED
                : io.gpufleet.proto.health.v1.RecoveryAction.valueOf("RECOVERY_ACTION_" + action.name());
    }

    static HealthState state(io.gpufleet.proto.health.v1.HealthState wire) {
        return named(HealthState.class, wire, "HEALTH_STATE_", HealthState.HEALTHY);
    }

    static io.gpufleet.proto.health.v1.HealthState toWire(HealthState state) {
        return io.gpufleet.proto.health.v1.HealthState.valueOf("HEALTH_STATE_" + state.name());
    }

    static NextStep step(io.gpufleet.proto.health.v1.NextStep wire) {
        return named(NextStep.class, wire, "NEXT_STEP_", NextStep.NONE);
    }

    static io.gpufleet.proto.health.v1.NextStep toWire(NextStep step) {
        return step == NextStep.NONE
                ? io.gpufleet.proto.health.v1.NextStep.NEXT_STEP_UNSPECIFIED
                : io.gpufleet.proto.health.v1.NextStep.valueOf("NEXT_STEP_" + step.name());
    }

    /** At most that many characters; texts of drivers and people are not trusted to be short. */
    static String atMost(int length, String text) {
        return text.length() <= length ? text : text.substring(0, length - 1) + "…";
    }

    private static <E extends Enum<E>> E named(Class<E> type, ProtocolMessageEnum wire, String prefix, E otherwise) {
        String name = wire.toString().toUpperCase(Locale.ROOT);
        for (E value : type.getEnumConstants()) {
            if (name.equals(prefix + value.name())) {
                return value;
            }
        }
        return otherwise;
    }
}
