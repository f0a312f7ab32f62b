package io.gpufleet.health.model.device;

import io.gpufleet.health.model.fault.RecommendedAction;
import java.time.Instant;

/**
 * State of one device. A transition is a method that exists only where it is legal; the diagram in {@code
 * device-health.md} is generated from these methods.
 */
public sealed interface DeviceHealth {
    /** Start of the state, by the append time of the event that led to it. */
    Instant since();

    /** Name of the state. */
    default HealthState state() {
        return switch (this) {
            case Healthy _ -> HealthState.HEALTHY;
            case Suspect _ -> HealthState.SUSPECT;
            case Unhealthy _ -> HealthState.UNHEALTHY;
            case Recovering _ -> HealthState.RECOVERING;
            case Quarantined _ -> HealthState.QUARANTINED;
            case Retired _ -> HealthState.RETIRED;
            case Lost _ -> HealthState.LOST;
        };
    }

    /** Machine-readable reason; empty when healthy. */
    default String reason() {
        return switch (this) {
            case Healthy _ -> "";
            case Suspect suspect -> suspect.cause().reason();
            case Unhealthy unhealthy -> unhealthy.cause().reason();
            case Recovering recovering -> recovering.reason();
            case Quarantined _ -> "Quarantined";
            case Retired _ -> "Retired";
            case Lost _ -> "GpuLost";
        };
    }

    /** Recommended action for an operator. */
    default RecommendedAction recommendedAction() {
        return switch (this) {
            case Suspect suspect -> suspect.cause().recommendedAction();
            case Unhealthy unhealthy -> unhealthy.cause().recommendedAction();
            case Retired _ -> RecommendedAction.SUPPORT;
            case Lost _ -> RecommendedAction.REBOOT;
            case Healthy _, Recovering _, Quarantined _ -> RecommendedAction.NONE;
        };
    }

    /** False when the device must not be allocated. */
    default boolean trusted() {
        return switch (this) {
            case Healthy _, Suspect _ -> true;
            case Unhealthy _, Recovering _, Quarantined _, Retired _, Lost _ -> false;
        };
    }

    /** In service. */
    record Healthy(Instant since) implements DeviceHealth {
        /** A fault that does not withdraw it. */
        public Suspect toSuspect(Cause cause, Instant at) {
            return new Suspect(at, cause);
        }

        /** A fault that withdraws it. */
        public Unhealthy toUnhealthy(Cause cause, Instant at) {
            return new Unhealthy(at, cause);
        }

        /** It no longer answers. */
        public Lost toLost(Instant at) {
            return new Lost(at);
        }

        /** Command of an operator. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }
    }

    /** In service, with faults that do not withdraw it. */
    record Suspect(Instant since, Cause cause) implements DeviceHealth {
        /** Its faults ended. */
        public Healthy toHealthy(Instant at) {
            return new Healthy(at);
        }

        /** Another fault is the worst now; the start stays. */
        public Suspect withCause(Cause other) {
            return new Suspect(since, other);
        }

        /** A fault that withdraws it. */
        public Unhealthy toUnhealthy(Cause worse, Instant at) {
            return new Unhealthy(at, worse);
        }

        /** It no longer answers. */
        public Lost toLost(Instant at) {
            return new Lost(at);
        }

        /** Command of an operator. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }
    }

    /** Out of service because of a fault. */
    record Unhealthy(Instant since, Cause cause) implements DeviceHealth {
        /** Another fault is the worst now; the start stays. */
        public Unhealthy withCause(Cause other) {
            return new Unhealthy(since, other);
        }

        /** The last fault that withdraws it ended. */
        public Recovering toRecovering(Instant at) {
            return new Recovering(at, cause.reason());
        }

        /** It no longer answers. */
        public Lost toLost(Instant at) {
            return new Lost(at);
        }

        /** Command of an operator. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }
    }

    /**
     * Out of service for the recovery dwell of the policy, after its fault ended; and until it is validated, where the policy
     * says so.
     *
     * @param reason reason of the state before
     */
    record Recovering(Instant since, String reason) implements DeviceHealth {
        private static final String RELEASED = "Released";

        /** True when an operator decided that it returns. */
        public boolean released() {
            return reason.equals(RELEASED);
        }

        /** The dwell is over. */
        public Healthy toHealthy(Instant at) {
            return new Healthy(at);
        }

        /** A fault that withdraws it. */
        public Unhealthy toUnhealthy(Cause cause, Instant at) {
            return new Unhealthy(at, cause);
        }

        /** It no longer answers. */
        public Lost toLost(Instant at) {
            return new Lost(at);
        }

        /** Command of an operator. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }
    }

    /** Out of service by an operator's command, whatever the daemon reports; only a release returns it. */
    record Quarantined(Instant since, String note) implements DeviceHealth {
        /** Command of an operator; its open faults decide about it again. */
        public Recovering release(Instant at) {
            return new Recovering(at, Recovering.RELEASED);
        }

        /** Command of an operator. */
        public Retired retire(String why, Instant at) {
            return new Retired(at, why);
        }
    }

    /** Out of service for good, unless an operator changes his mind. */
    record Retired(Instant since, String note) implements DeviceHealth {
        /** Command of an operator: the way back, which a release completes. */
        public Quarantined quarantine(String why, Instant at) {
            return new Quarantined(at, why);
        }
    }

    /** Does not answer, as the newest announcement reports. */
    record Lost(Instant since) implements DeviceHealth {
        /** It answers again; its open faults decide about it again. */
        public Recovering toFound(Instant at) {
            return new Recovering(at, "Found");
        }

        /** Command of an operator. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }
    }
}
