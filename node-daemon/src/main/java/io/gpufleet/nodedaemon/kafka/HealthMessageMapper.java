package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.Timestamp;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.proto.health.v1.DeviceOffer;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultSource;
import io.gpufleet.proto.health.v1.HolderAtFault;
import io.gpufleet.proto.health.v1.WithdrawalRule;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/** Maps faults and offers of the model to messages of the wire. */
final class HealthMessageMapper {
    private static final int MESSAGE_BYTES = 512;

    private HealthMessageMapper() {}

    static Fault fault(OpenFault open) {
        var fault = Fault.newBuilder()
                .setDeviceUuid(open.key().gpuUuid())
                .setMigUuid(open.migUuid())
                .setModel(open.model())
                .setKind(FaultKind.valueOf("FAULT_KIND_" + open.key().fault().kind()))
                .setXid(code(open.key().fault()))
                .setRecoveryAction(action(open))
                .setMessage(shortened(open.message()))
                .setWithdraws(open.withdraws())
                .setSubcode(open.subject().subcode().name())
                .setWithdrawalRule(
                        switch (open.withdrawal().rule()) {
                            case KIND -> WithdrawalRule.WITHDRAWAL_RULE_KIND;
                            case RECOVERY_ACTION -> WithdrawalRule.WITHDRAWAL_RULE_RECOVERY_ACTION;
                            case SUBCODE -> WithdrawalRule.WITHDRAWAL_RULE_SUBCODE;
                            case NODE_SETTINGS -> WithdrawalRule.WITHDRAWAL_RULE_NODE_SETTINGS;
                        });
        open.origins().stream().sorted().forEach(origin -> fault.addSources(source(origin)));
        return fault.build();
    }

    static io.gpufleet.proto.health.v1.OpenFault open(OpenFault open) {
        return io.gpufleet.proto.health.v1.OpenFault.newBuilder()
                .setFault(fault(open))
                .setSince(timestamp(open.since()))
                .setObservations(open.observationCount())
                .build();
    }

    static DeviceOffer offer(OfferedDevice offer) {
        return DeviceOffer.newBuilder()
                .setDeviceUuid(offer.gpu().uuid())
                .setResource(offer.resource())
                .setOfferedHealthy(offer.healthy())
                .setLocallyHealthy(offer.health().locallyHealthy())
                .setOverlayAllows(offer.health().overlayAllows())
                .setReason(offer.health().reason())
                .build();
    }

    static HolderAtFault holder(Holder holder) {
        return HolderAtFault.newBuilder()
                .setNamespace(holder.namespace())
                .setPod(holder.pod())
                .setPodUid(holder.podUid())
                .setContainer(holder.container())
                .build();
    }

    static Timestamp timestamp(Instant instant) {
        return Timestamp.newBuilder()
                .setSeconds(instant.getEpochSecond())
                .setNanos(instant.getNano())
                .build();
    }

    private static int code(FaultCode fault) {
        return switch (fault) {
            case FaultCode.Xid(int code) -> code;
            case FaultCode.Sxid(int code) -> code;
            case FaultCode.RecoveryRequested _, FaultCode.WithoutCode _ -> 0;
        };
    }

    private static FaultSource source(FaultOrigin origin) {
        return switch (origin) {
            case NVML_EVENT -> FaultSource.FAULT_SOURCE_NVML_EVENT;
            case KERNEL_LOG -> FaultSource.FAULT_SOURCE_KERNEL_LOG;
            case POLL -> FaultSource.FAULT_SOURCE_POLL;
            case SIMULATION -> FaultSource.FAULT_SOURCE_SIMULATION;
        };
    }

    private static io.gpufleet.proto.health.v1.RecoveryAction action(OpenFault open) {
        if (open.key().fault() instanceof FaultCode.RecoveryRequested(RecoveryAction action)) {
            return action(action);
        }
        return switch (open.recoveryAction()) {
            case Reading.Known<RecoveryAction>(RecoveryAction action) -> action(action);
            case Reading.Unavailable<RecoveryAction> _ ->
                io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_UNSPECIFIED;
        };
    }

    private static io.gpufleet.proto.health.v1.RecoveryAction action(RecoveryAction action) {
        return switch (action) {
            case NONE -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_NONE;
            case GPU_RESET -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_GPU_RESET;
            case NODE_REBOOT -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_NODE_REBOOT;
            case DRAIN_P2P -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_DRAIN_P2P;
            case DRAIN_AND_RESET -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_DRAIN_AND_RESET;
            case RECOVER_IMEX_DOMAIN -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_RECOVER_IMEX_DOMAIN;
            case BUS_RESET -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_BUS_RESET;
            case SYSTEM_REBOOT -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_SYSTEM_REBOOT;
            case UNKNOWN -> io.gpufleet.proto.health.v1.RecoveryAction.RECOVERY_ACTION_UNKNOWN;
        };
    }

    private static String shortened(String message) {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= MESSAGE_BYTES
                ? message
                : new String(Arrays.copyOf(bytes, MESSAGE_BYTES - 3), StandardCharsets.UTF_8).replace("\ufffd", "");
    }
}
