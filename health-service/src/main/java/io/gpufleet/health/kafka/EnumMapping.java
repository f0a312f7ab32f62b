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

/**
 * Maps enums by name to protobuf and back. In an event an unknown protobuf value becomes the default; in our own
 * changelog it is an exception, since the state would be another one.
 */
final class EnumMapping {
    private static final int MAX_NUMBER = 1_000_000;
    private static final EnumPairs<io.gpufleet.proto.health.v1.FaultKind, FaultKind> KINDS = EnumPairs.of(
            io.gpufleet.proto.health.v1.FaultKind.class, "FAULT_KIND_", FaultKind.class, FaultKind.UNKNOWN);
    private static final EnumPairs<WithdrawalRule, DaemonWithdrawal.Rule> RULES = EnumPairs.of(
            WithdrawalRule.class, "WITHDRAWAL_RULE_", DaemonWithdrawal.Rule.class, DaemonWithdrawal.Rule.UNSPECIFIED);
    private static final EnumPairs<io.gpufleet.proto.health.v1.RecoveryAction, RecoveryAction> RECOVERY_ACTIONS =
            EnumPairs.of(
                    io.gpufleet.proto.health.v1.RecoveryAction.class,
                    "RECOVERY_ACTION_",
                    RecoveryAction.class,
                    RecoveryAction.UNKNOWN);
    private static final EnumPairs<io.gpufleet.proto.health.v1.RecommendedAction, RecommendedAction>
            RECOMMENDED_ACTIONS = EnumPairs.of(
                    io.gpufleet.proto.health.v1.RecommendedAction.class,
                    "RECOMMENDED_ACTION_",
                    RecommendedAction.class,
                    RecommendedAction.NONE);
    private static final EnumPairs<io.gpufleet.proto.health.v1.HealthState, HealthState> STATES = EnumPairs.of(
            io.gpufleet.proto.health.v1.HealthState.class, "HEALTH_STATE_", HealthState.class, HealthState.HEALTHY);

    private EnumMapping() {}

    static FaultCode code(Fault fault) {
        return code(fault.getKind(), fault.getXid(), action(fault.getRecoveryAction()));
    }

    static FaultCode code(io.gpufleet.proto.health.v1.FaultKind wire, int number, RecoveryAction action) {
        FaultKind kind = KINDS.model(wire);
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
        return RULES.model(wire);
    }

    static WithdrawalRule toWire(DaemonWithdrawal.Rule rule) {
        return RULES.wire(rule);
    }

    static io.gpufleet.proto.health.v1.FaultKind toWire(FaultKind kind) {
        return kind == FaultKind.UNKNOWN
                ? io.gpufleet.proto.health.v1.FaultKind.FAULT_KIND_UNSPECIFIED
                : KINDS.wire(kind);
    }

    static RecoveryAction action(io.gpufleet.proto.health.v1.RecoveryAction wire) {
        return RECOVERY_ACTIONS.model(wire);
    }

    static io.gpufleet.proto.health.v1.RecoveryAction toWire(RecoveryAction action) {
        return RECOVERY_ACTIONS.wire(action);
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
        return STATES.wire(state);
    }

    static RecommendedAction recommendedAction(io.gpufleet.proto.health.v1.RecommendedAction wire) {
        return RECOMMENDED_ACTIONS.model(wire);
    }

    static io.gpufleet.proto.health.v1.RecommendedAction toWire(RecommendedAction action) {
        return action == RecommendedAction.NONE
                ? io.gpufleet.proto.health.v1.RecommendedAction.RECOMMENDED_ACTION_UNSPECIFIED
                : RECOMMENDED_ACTIONS.wire(action);
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
