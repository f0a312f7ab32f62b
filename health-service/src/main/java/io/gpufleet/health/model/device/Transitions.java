package io.gpufleet.health.model.device;

import io.gpufleet.health.model.device.DeviceHealth.Healthy;
import io.gpufleet.health.model.device.DeviceHealth.Lost;
import io.gpufleet.health.model.device.DeviceHealth.Quarantined;
import io.gpufleet.health.model.device.DeviceHealth.Recovering;
import io.gpufleet.health.model.device.DeviceHealth.Retired;
import io.gpufleet.health.model.device.DeviceHealth.Suspect;
import io.gpufleet.health.model.device.DeviceHealth.Unhealthy;
import java.time.Duration;
import java.time.Instant;

/** Chooses transitions: towards a target health, or by an operator's command. */
public final class Transitions {
    private Transitions() {}

    /** One transition towards the target; the same object when none is due now. */
    public static DeviceHealth next(DeviceHealth from, TargetHealth target, Duration dwell, Instant at) {
        return switch (from) {
            case Healthy healthy ->
                switch (target) {
                    case TargetHealth.Healthy() -> healthy;
                    case TargetHealth.Suspect(Cause cause) -> healthy.toSuspect(cause, at);
                    case TargetHealth.Unhealthy(Cause cause) -> healthy.toUnhealthy(cause, at);
                    case TargetHealth.Lost() -> healthy.toLost(at);
                };
            case Suspect suspect ->
                switch (target) {
                    case TargetHealth.Healthy() -> suspect.toHealthy(at);
                    case TargetHealth.Suspect(Cause cause) ->
                        cause.equals(suspect.cause()) ? suspect : suspect.withCause(cause);
                    case TargetHealth.Unhealthy(Cause cause) -> suspect.toUnhealthy(cause, at);
                    case TargetHealth.Lost() -> suspect.toLost(at);
                };
            case Unhealthy unhealthy ->
                switch (target) {
                    case TargetHealth.Healthy _, TargetHealth.Suspect _ -> unhealthy.toRecovering(at);
                    case TargetHealth.Unhealthy(Cause cause) ->
                        cause.equals(unhealthy.cause()) ? unhealthy : unhealthy.withCause(cause);
                    case TargetHealth.Lost() -> unhealthy.toLost(at);
                };
            case Recovering recovering ->
                switch (target) {
                    case TargetHealth.Healthy _, TargetHealth.Suspect _ ->
                        !dwell.isZero() && at.isBefore(recovering.since().plus(dwell))
                                ? recovering
                                : recovering.toHealthy(at);
                    case TargetHealth.Unhealthy(Cause cause) -> recovering.toUnhealthy(cause, at);
                    case TargetHealth.Lost() -> recovering.toLost(at);
                };
            case Lost lost ->
                switch (target) {
                    case TargetHealth.Healthy _, TargetHealth.Suspect _, TargetHealth.Unhealthy _ -> lost.toFound(at);
                    case TargetHealth.Lost() -> lost;
                };
            case Quarantined quarantined -> quarantined;
            case Retired retired -> retired;
        };
    }

    /** Quarantines the device; the same object when it is quarantined already. */
    public static DeviceHealth quarantine(DeviceHealth from, String note, Instant at) {
        return switch (from) {
            case Healthy healthy -> healthy.quarantine(note, at);
            case Suspect suspect -> suspect.quarantine(note, at);
            case Unhealthy unhealthy -> unhealthy.quarantine(note, at);
            case Recovering recovering -> recovering.quarantine(note, at);
            case Lost lost -> lost.quarantine(note, at);
            case Retired retired -> retired.quarantine(note, at);
            case Quarantined quarantined -> quarantined;
        };
    }

    /** Releases a quarantined device; the same object in any other state. */
    public static DeviceHealth release(DeviceHealth from, Instant at) {
        return from instanceof Quarantined quarantined ? quarantined.release(at) : from;
    }

    /** Retires a quarantined device; the same object in any other state. */
    public static DeviceHealth retire(DeviceHealth from, String note, Instant at) {
        return from instanceof Quarantined quarantined ? quarantined.retire(note, at) : from;
    }
}
