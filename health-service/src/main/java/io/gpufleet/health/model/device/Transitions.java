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
    public static DeviceHealth next(DeviceHealth from, DesiredDeviceHealth target, Duration dwell, Instant at) {
        return switch (from) {
            case Healthy healthy ->
                switch (target) {
                    case DesiredDeviceHealth.Healthy() -> healthy;
                    case DesiredDeviceHealth.Suspect(Cause cause) -> healthy.toSuspect(cause, at);
                    case DesiredDeviceHealth.Unhealthy(Cause cause) -> healthy.toUnhealthy(cause, at);
                    case DesiredDeviceHealth.Lost() -> healthy.toLost(at);
                };
            case Suspect suspect ->
                switch (target) {
                    case DesiredDeviceHealth.Healthy() -> suspect.toHealthy(at);
                    case DesiredDeviceHealth.Suspect(Cause cause) ->
                        cause.equals(suspect.cause()) ? suspect : suspect.withCause(cause);
                    case DesiredDeviceHealth.Unhealthy(Cause cause) -> suspect.toUnhealthy(cause, at);
                    case DesiredDeviceHealth.Lost() -> suspect.toLost(at);
                };
            case Unhealthy unhealthy ->
                switch (target) {
                    case DesiredDeviceHealth.Healthy _, DesiredDeviceHealth.Suspect _ -> unhealthy.toRecovering(at);
                    case DesiredDeviceHealth.Unhealthy(Cause cause) ->
                        cause.equals(unhealthy.cause()) ? unhealthy : unhealthy.withCause(cause);
                    case DesiredDeviceHealth.Lost() -> unhealthy.toLost(at);
                };
            case Recovering recovering ->
                switch (target) {
                    case DesiredDeviceHealth.Healthy _, DesiredDeviceHealth.Suspect _ ->
                        !dwell.isZero() && at.isBefore(recovering.since().plus(dwell))
                                ? recovering
                                : recovering.toHealthy(at);
                    case DesiredDeviceHealth.Unhealthy(Cause cause) -> recovering.toUnhealthy(cause, at);
                    case DesiredDeviceHealth.Lost() -> recovering.toLost(at);
                };
            case Lost lost ->
                switch (target) {
                    case DesiredDeviceHealth.Healthy _,
                            DesiredDeviceHealth.Suspect _,
                            DesiredDeviceHealth.Unhealthy _ -> lost.toFound(at);
                    case DesiredDeviceHealth.Lost() -> lost;
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
