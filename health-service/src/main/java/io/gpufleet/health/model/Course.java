package io.gpufleet.health.model;

import io.gpufleet.health.model.DeviceHealth.Healthy;
import io.gpufleet.health.model.DeviceHealth.Lost;
import io.gpufleet.health.model.DeviceHealth.Quarantined;
import io.gpufleet.health.model.DeviceHealth.Recovering;
import io.gpufleet.health.model.DeviceHealth.Retired;
import io.gpufleet.health.model.DeviceHealth.Suspect;
import io.gpufleet.health.model.DeviceHealth.Unhealthy;
import java.time.Duration;
import java.time.Instant;

/** Which transition comes next on the way to an aim; what only a hand may do is not among them. */
public final class Course {
    private Course() {}

    /** One transition towards the aim; the same object when there is none to make now. */
    public static DeviceHealth step(DeviceHealth from, Aim aim, Duration dwell, Instant at) {
        return switch (from) {
            case Healthy healthy ->
                switch (aim) {
                    case Aim.Well() -> healthy;
                    case Aim.Doubt(Cause cause) -> healthy.doubt(cause, at);
                    case Aim.Out(Cause cause) -> healthy.fail(cause, at);
                    case Aim.Gone() -> healthy.lose(at);
                };
            case Suspect suspect ->
                switch (aim) {
                    case Aim.Well() -> suspect.calm(at);
                    case Aim.Doubt(Cause cause) -> cause.equals(suspect.cause()) ? suspect : suspect.blame(cause);
                    case Aim.Out(Cause cause) -> suspect.fail(cause, at);
                    case Aim.Gone() -> suspect.lose(at);
                };
            case Unhealthy unhealthy ->
                switch (aim) {
                    case Aim.Well _, Aim.Doubt _ -> unhealthy.mend(at);
                    case Aim.Out(Cause cause) -> cause.equals(unhealthy.cause()) ? unhealthy : unhealthy.blame(cause);
                    case Aim.Gone() -> unhealthy.lose(at);
                };
            case Recovering recovering ->
                switch (aim) {
                    case Aim.Well _, Aim.Doubt _ ->
                        !dwell.isZero() && at.isBefore(recovering.since().plus(dwell))
                                ? recovering
                                : recovering.settle(at);
                    case Aim.Out(Cause cause) -> recovering.fail(cause, at);
                    case Aim.Gone() -> recovering.lose(at);
                };
            case Lost lost ->
                switch (aim) {
                    case Aim.Well _, Aim.Doubt _, Aim.Out _ -> lost.find(at);
                    case Aim.Gone() -> lost;
                };
            case Quarantined quarantined -> quarantined;
            case Retired retired -> retired;
        };
    }

    /** A hand takes the device out; the same object where a hand did so before. */
    public static DeviceHealth quarantine(DeviceHealth from, String note, Instant at) {
        return switch (from) {
            case Healthy healthy -> healthy.quarantine(note, at);
            case Suspect suspect -> suspect.quarantine(note, at);
            case Unhealthy unhealthy -> unhealthy.quarantine(note, at);
            case Recovering recovering -> recovering.quarantine(note, at);
            case Lost lost -> lost.quarantine(note, at);
            case Quarantined quarantined -> quarantined;
            case Retired retired -> retired;
        };
    }

    /** A hand puts the device back; the same object where no hand had taken it out, or for good. */
    public static DeviceHealth release(DeviceHealth from, Instant at) {
        return from instanceof Quarantined quarantined ? quarantined.release(at) : from;
    }

    /** A hand gives the device up; only what is quarantined can be given up. */
    public static DeviceHealth retire(DeviceHealth from, String note, Instant at) {
        return from instanceof Quarantined quarantined ? quarantined.retire(note, at) : from;
    }
}
