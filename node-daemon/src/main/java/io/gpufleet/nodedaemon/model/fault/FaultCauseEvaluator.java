package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import java.time.Duration;
import java.util.Optional;

/** Evidence of a poll about an open fault: its cause is present, resolved, or neither is proven. */
final class FaultCauseEvaluator {
    /** Time after an event before which the driver may not have set its recovery action yet. */
    private static final Duration RECOVERY_ACTION_DELAY = Duration.ofSeconds(5);

    private FaultCauseEvaluator() {}

    /** The GPU does not respond, its recovery action withdraws it, or a repair waits for the next reset. */
    static boolean isPresent(OpenFault fault, GpuSample sample) {
        return switch (fault.key().fault()) {
            case FaultCode.RecoveryRequested(RecoveryAction asked) ->
                sample.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction now) && now == asked;
            case FaultCode.Xid _ -> fault.withdraws() && (isUnfit(sample) || isRepairPending(sample.health()));
            case FaultCode.Sxid _, FaultCode.WithoutCode _ -> fault.withdraws() && isUnfit(sample);
        };
    }

    private static boolean isUnfit(GpuSample sample) {
        boolean silent = sample.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers;
        boolean asks = sample.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction action)
                && action.requiresWithdrawal();
        return silent || asks;
    }

    private static boolean isRepairPending(HealthReadings health) {
        return health.rowRemapping().pending().orElse(false)
                || health.retirementPending().orElse(false);
    }

    /** Returns the proof that the cause is resolved; empty when the poll proves nothing. */
    static Optional<String> resolution(OpenFault fault, GpuSample sample, Moment now) {
        if (!sample.answers().orElse(false)) {
            return Optional.empty();
        }
        boolean unmonitored = fault.state() instanceof FaultCauseState.Unmonitored;
        boolean decided = unmonitored
                && now.since(fault.lastSeenNanos()).compareTo(RECOVERY_ACTION_DELAY) >= 0
                && !isRepairPending(sample.health());
        return switch (fault.key().fault()) {
            case FaultCode.Xid _ -> xidResolution(fault, decided, sample);
            case FaultCode.Sxid _ -> Optional.empty();
            case FaultCode.RecoveryRequested(RecoveryAction asked) ->
                sample.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction next) && next != asked
                        ? Optional.of("recovery action " + next)
                        : Optional.empty();
            case FaultCode.WithoutCode(FaultKind kind) ->
                switch (kind) {
                    case GPU_LOST -> Optional.of("handle responds");
                    case ECC_UNCORRECTABLE -> eventResolution(decided, sample);
                    case NVML_HUNG -> unmonitored ? Optional.of("calls return") : Optional.empty();
                    // A fault of the driver ends with a scan, the others with the rules that detected them.
                    case DRIVER,
                            EVENT_WAIT,
                            ROW_REMAP,
                            NVLINK,
                            PCIE,
                            THROTTLE,
                            INFOROM,
                            FABRIC,
                            MEMORY_UNREADABLE,
                            GPU_MISSING,
                            POWER_UNREADABLE -> Optional.empty();
                    case UNKNOWN, XID, SXID, RECOVERY_ACTION ->
                        throw new IllegalArgumentException(kind + " has a code or is not known");
                };
        };
    }

    private static Optional<String> xidResolution(OpenFault fault, boolean decided, GpuSample sample) {
        return switch (sample.recoveryAction()) {
            case Reading.Known<RecoveryAction> _ -> eventResolution(decided, sample);
            case Reading.Unavailable<RecoveryAction> _ -> {
                // Drivers before 565 report no recovery action: a fatal XID needs the proof of a reset.
                if (fault.wasReset(sample.device().power().energyMillijoules())) {
                    yield Optional.of("GPU was reset: energy counter fell; handle responds");
                }
                yield decided && !fault.withdraws()
                        ? Optional.of("handle responds, and the XID needs no repair")
                        : Optional.empty();
            }
        };
    }

    private static Optional<String> eventResolution(boolean decided, GpuSample sample) {
        return sample.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction action)
                        && decided
                        && !action.requiresWithdrawal()
                ? Optional.of("recovery action " + action + ", handle responds, no remap pending")
                : Optional.empty();
    }

    /** Faults in state of the driver or the hardware that loading a driver initializes. */
    static boolean endsWithDriverReload(OpenFault fault) {
        return switch (fault.key().fault()) {
            case FaultCode.Xid _, FaultCode.Sxid _ -> true;
            case FaultCode.RecoveryRequested _, FaultCode.WithoutCode _ -> false;
        };
    }
}
