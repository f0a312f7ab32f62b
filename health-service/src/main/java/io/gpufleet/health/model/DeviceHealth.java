package io.gpufleet.health.model;

import java.time.Instant;

/**
 * The state of one device. A transition is a method that exists only where it is legal; the diagram in {@code
 * device-health.md} is made from these methods.
 */
public sealed interface DeviceHealth {
    /** Since when, by the log's append time. */
    Instant since();

    /** The name of the state. */
    HealthState state();

    /** Why, machine-readable; empty when healthy. */
    String reason();

    /** What is due. */
    default NextStep step() {
        return NextStep.NONE;
    }

    /** False when the device must not be handed out. */
    default boolean trusted() {
        return false;
    }

    /** Fit for work. */
    record Healthy(Instant since) implements DeviceHealth {
        /** Signs that are not enough to act on. */
        public Suspect doubt(Cause cause, Instant at) {
            return new Suspect(at, cause);
        }

        /** A fault that takes it out. */
        public Unhealthy fail(Cause cause, Instant at) {
            return new Unhealthy(at, cause);
        }

        /** It does not answer any more. */
        public Lost lose(Instant at) {
            return new Lost(at);
        }

        /** An operator takes it out. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }

        @Override
        public HealthState state() {
            return HealthState.HEALTHY;
        }

        @Override
        public String reason() {
            return "";
        }

        @Override
        public boolean trusted() {
            return true;
        }
    }

    /** Signs were seen that are not enough to act on. */
    record Suspect(Instant since, Cause cause) implements DeviceHealth {
        /** The signs are gone. */
        public Healthy calm(Instant at) {
            return new Healthy(at);
        }

        /** Other signs have become the worst; it is no newer for that. */
        public Suspect blame(Cause other) {
            return new Suspect(since, other);
        }

        /** A fault that takes it out. */
        public Unhealthy fail(Cause worse, Instant at) {
            return new Unhealthy(at, worse);
        }

        /** It does not answer any more. */
        public Lost lose(Instant at) {
            return new Lost(at);
        }

        /** An operator takes it out. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }

        @Override
        public HealthState state() {
            return HealthState.SUSPECT;
        }

        @Override
        public String reason() {
            return cause.reason();
        }

        @Override
        public NextStep step() {
            return cause.step();
        }

        @Override
        public boolean trusted() {
            return true;
        }
    }

    /** Must not be handed out. */
    record Unhealthy(Instant since, Cause cause) implements DeviceHealth {
        /** Another fault has become the worst; it is out no less long for that. */
        public Unhealthy blame(Cause other) {
            return new Unhealthy(since, other);
        }

        /** The last fault is proven gone. */
        public Recovering mend(Instant at) {
            return new Recovering(at, cause.reason());
        }

        /** It does not answer any more. */
        public Lost lose(Instant at) {
            return new Lost(at);
        }

        /** An operator takes it out. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }

        @Override
        public HealthState state() {
            return HealthState.UNHEALTHY;
        }

        @Override
        public String reason() {
            return cause.reason();
        }

        @Override
        public NextStep step() {
            return cause.step();
        }
    }

    /** The cause is gone; on probation for as long as the policy says. */
    record Recovering(Instant since, String reason) implements DeviceHealth {
        /** Probation is over. */
        public Healthy settle(Instant at) {
            return new Healthy(at);
        }

        /** A fault came in the meantime. */
        public Unhealthy fail(Cause cause, Instant at) {
            return new Unhealthy(at, cause);
        }

        /** It does not answer any more. */
        public Lost lose(Instant at) {
            return new Lost(at);
        }

        /** An operator takes it out. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }

        @Override
        public HealthState state() {
            return HealthState.RECOVERING;
        }
    }

    /** Taken out by hand; whatever the device says, only a hand puts it back. */
    record Quarantined(Instant since, String note) implements DeviceHealth {
        /** Put back; open faults are looked at again from here. */
        public Recovering release(Instant at) {
            return new Recovering(at, "Released");
        }

        /** Given up for good. */
        public Retired retire(String why, Instant at) {
            return new Retired(at, why);
        }

        @Override
        public HealthState state() {
            return HealthState.QUARANTINED;
        }

        @Override
        public String reason() {
            return "Quarantined";
        }
    }

    /** Given up for good. */
    record Retired(Instant since, String note) implements DeviceHealth {
        @Override
        public HealthState state() {
            return HealthState.RETIRED;
        }

        @Override
        public String reason() {
            return "Retired";
        }

        @Override
        public NextStep step() {
            return NextStep.SUPPORT;
        }
    }

    /** Does not answer any more, as the daemon's newest announcement says. */
    record Lost(Instant since) implements DeviceHealth {
        /** It answers again; open faults are looked at again from here. */
        public Recovering find(Instant at) {
            return new Recovering(at, "Found");
        }

        /** An operator takes it out. */
        public Quarantined quarantine(String note, Instant at) {
            return new Quarantined(at, note);
        }

        @Override
        public HealthState state() {
            return HealthState.LOST;
        }

        @Override
        public String reason() {
            return "GpuLost";
        }

        @Override
        public NextStep step() {
            return NextStep.REBOOT;
        }
    }
}
