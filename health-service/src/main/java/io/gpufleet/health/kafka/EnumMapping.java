package io.gpufleet.health.kafka;

import com.google.protobuf.ProtocolMessageEnum;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.WithdrawalRule;
import java.util.Locale;

/**
 * Maps enums by name to protobuf and back. In an event an unknown protobuf value becomes the default; in our own
 * changelog it is an exception, since the state would be another one.
 */
final class EnumMapping {
    private static final int MAX_NUMBER = 1_000_000;

    private EnumMapping() {}

    static FaultCode code(Fault fault) {
        return code(fault.getKind(), fault.getXid(), action(fault.getRecoveryAction()));
    }

    static FaultCode code(io.gpufleet.proto.health.v1.FaultKind wire, int number, RecoveryAction action) {
        FaultKind kind = byName(FaultKind.class, wire, "FAULT_KIND_", FaultKind.UNKNOWN);
        if (kind == FaultKind.RECOVERY_ACTION) {
            return FaultCode.recovery(action);
        }
        boolean numbered = kind == FaultKind.XID || kind == FaultKind.SXID;
        return new FaultCode(kind, numbered ? Math.clamp(number, 0, MAX_NUMBER) : 0);
    }

    /** Report of the daemon that comes with a fault. */
    static FaultReport report(Fault fault) {
        return new FaultReport(
                action(fault.getRecoveryAction()),
                new DaemonWithdrawal(fault.getWithdraws(), rule(fault.getWithdrawalRule())),
                TextLimits.name(fault.getSubcode()));
    }

    static DaemonWithdrawal.Rule rule(WithdrawalRule wire) {
        return byName(DaemonWithdrawal.Rule.class, wire, "WITHDRAWAL_RULE_", DaemonWithdrawal.Rule.UNSPECIFIED);
    }

    static WithdrawalRule toWire(DaemonWithdrawal.Rule rule) {
        return WithdrawalRule.valueOf("WITHDRAWAL_RULE_" + rule.name());
    }

    static io.gpufleet.proto.health.v1.FaultKind toWire(FaultKind kind) {
        return kind == FaultKind.UNKNOWN
                ? io.gpufleet.proto.health.v1.FaultKind.FAULT_KIND_UNSPECIFIED
                : io.gpufleet.proto.health.v1.FaultKind.valueOf("FAULT_KIND_" + kind.name());
    }

    static RecoveryAction action(io.gpufleet.proto.health.v1.RecoveryAction wire) {
        return byName(RecoveryAction.class, wire, "RECOVERY_ACTION_", RecoveryAction.UNKNOWN);
    }

    static io.gpufleet.proto.health.v1.RecoveryAction toWire(RecoveryAction action) {
        return io.gpufleet.proto.health.v1.RecoveryAction.valueOf("RECOVERY_ACTION_" + action.name());
    }

    /** A state of the changelog, where there is always one. */
    static HealthState state(io.gpufleet.proto.health.v1.HealthState wire) {
        return switch (wire) {
            case HEALTH_STATE_HEALTHY -> HealthState.HEALTHY;
            case HEALTH_STATE_SUSPECT -> HealthState.SUSPECT;
            case HEALTH_STATE_UNHEALTHY -> HealthState.UNHEALTHY;
            case HEALTH_STATE_RECOVERING -> HealthState.RECOVERING;
            case HEALTH_STATE_QUARANTINED -> HealthState.QUARANTINED;
            case HEALTH_STATE_RETIRED -> HealthState.RETIRED;
            case HEALTH_STATE_LOST -> HealthState.LOST;
            case HEALTH_STATE_UNSPECIFIED, UNRECOGNIZED ->
                throw new IllegalArgumentException("health state " + wire + " is unknown");
        };
    }

    /** A value of the changelog; throws for one of a later release. */
    static <E extends ProtocolMessageEnum> E recognized(E wire) {
        if (wire.toString().equals("UNRECOGNIZED")) {
            throw new IllegalArgumentException(wire.getClass().getSimpleName() + " has an unknown value");
        }
        return wire;
    }

    static io.gpufleet.proto.health.v1.HealthState toWire(HealthState state) {
        return io.gpufleet.proto.health.v1.HealthState.valueOf("HEALTH_STATE_" + state.name());
    }

    static RecommendedAction recommendedAction(io.gpufleet.proto.health.v1.RecommendedAction wire) {
        return byName(RecommendedAction.class, wire, "RECOMMENDED_ACTION_", RecommendedAction.NONE);
    }

    static io.gpufleet.proto.health.v1.RecommendedAction toWire(RecommendedAction action) {
        return action == RecommendedAction.NONE
                ? io.gpufleet.proto.health.v1.RecommendedAction.RECOMMENDED_ACTION_UNSPECIFIED
                : io.gpufleet.proto.health.v1.RecommendedAction.valueOf("RECOMMENDED_ACTION_" + action.name());
    }

    private static <E extends Enum<E>> E byName(Class<E> type, ProtocolMessageEnum wire, String prefix, E otherwise) {
        String name = wire.toString().toUpperCase(Locale.ROOT);
        for (E value : type.getEnumConstants()) {
            if (name.equals(prefix + value.name())) {
                return value;
            }
        }
        return otherwise;
    }

    static io.gpufleet.proto.health.v1.NodeAction toWire(NodeAction action) {
        return switch (action) {
            case TAINT -> io.gpufleet.proto.health.v1.NodeAction.NODE_ACTION_UNSPECIFIED;
            case CORDON -> io.gpufleet.proto.health.v1.NodeAction.NODE_ACTION_CORDON;
            case TAINT_AND_CORDON -> io.gpufleet.proto.health.v1.NodeAction.NODE_ACTION_TAINT_AND_CORDON;
        };
    }

    /** A taint in older records. */
    static NodeAction nodeAction(io.gpufleet.proto.health.v1.NodeAction wire) {
        return switch (wire) {
            case NODE_ACTION_UNSPECIFIED, UNRECOGNIZED -> NodeAction.TAINT;
            case NODE_ACTION_CORDON -> NodeAction.CORDON;
            case NODE_ACTION_TAINT_AND_CORDON -> NodeAction.TAINT_AND_CORDON;
        };
    }
}
