package io.gpufleet.nodedaemon.model;

import java.util.Optional;

/** What a poll proves of an open fault: that it is still there, that it is gone, or neither. */
final class Proof {
    private Proof() {}

    /** The GPU is silent, the driver asks for something that makes it unfit, or a repair waits for the next start. */
    static boolean stillThere(OpenFault fault, Vitals vitals) {
        return switch (fault.key().fault()) {
            case FaultCode.RecoveryAsked(RecoveryAction asked) ->
                vitals.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction now) && now == asked;
            case FaultCode.Xid _ -> fault.withdraws() && (unfit(vitals) || repairWaits(vitals.conditions()));
            case FaultCode.Sxid _, FaultCode.Plain _ -> fault.withdraws() && unfit(vitals);
        };
    }

    private static boolean unfit(Vitals vitals) {
        boolean silent = vitals.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers;
        boolean asks = vitals.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction action)
                && action.makesUnfit();
        return silent || asks;
    }

    private static boolean repairWaits(Conditions conditions) {
        return conditions.remapPending().orElse(false)
                || conditions.retirementPending().orElse(false);
    }

    /** Why the fault is gone; empty where the poll proves nothing of it. */
    static Optional<String> of(OpenFault fault, Vitals vitals) {
        if (!vitals.answers().orElse(false)) {
            return Optional.empty();
        }
        boolean unwatched = fault.cause() instanceof Cause.Unwatched;
        return switch (fault.key().fault()) {
            case FaultCode.Xid _ -> ofXid(fault, unwatched, vitals);
            case FaultCode.Sxid _ -> Optional.empty();
            case FaultCode.RecoveryAsked(RecoveryAction asked) ->
                vitals.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction now) && now != asked
                        ? Optional.of("recovery action " + now)
                        : Optional.empty();
            case FaultCode.Plain(FaultCode.Kind kind) ->
                switch (kind) {
                    case GPU_LOST -> Optional.of("the handle answers");
                    case NVML_HUNG -> unwatched ? Optional.of("calls return") : Optional.empty();
                    // The driver's own trouble ends with a look, the rest with the rules of the polls that saw it.
                    case DRIVER,
                            EVENT_WAIT,
                            ECC_UNCORRECTABLE,
                            ROW_REMAP,
                            NVLINK,
                            PCIE,
                            THROTTLE,
                            INFOROM,
                            FABRIC,
                            MEMORY_UNREADABLE,
                            POWER_UNREADABLE -> Optional.empty();
                };
        };
    }

    private static Optional<String> ofXid(OpenFault fault, boolean unwatched, Vitals vitals) {
        return switch (vitals.recoveryAction()) {
            case Reading.Known<RecoveryAction>(RecoveryAction action) ->
                unwatched && !action.makesUnfit()
                        ? Optional.of("recovery action " + action + ", the handle answers, no remap pending")
                        : Optional.empty();
            case Reading.Unavailable<RecoveryAction> _ -> {
                // Drivers before 565 can not say what they ask for: a fatal XID needs to be seen off by a new start.
                if (fault.startedAnew(vitals.energyMillijoules())) {
                    yield Optional.of("the GPU was started anew: its energy counter fell; the handle answers");
                }
                yield unwatched && !fault.withdraws()
                        ? Optional.of("the handle answers, and the XID asks for no repair")
                        : Optional.empty();
            }
        };
    }

    /** Faults that live in the driver's or the hardware's state, which a new driver sets up from the ground. */
    static boolean isOfTheDriver(OpenFault fault) {
        return switch (fault.key().fault()) {
            case FaultCode.Xid _, FaultCode.Sxid _ -> true;
            case FaultCode.RecoveryAsked _, FaultCode.Plain _ -> false;
        };
    }
}
