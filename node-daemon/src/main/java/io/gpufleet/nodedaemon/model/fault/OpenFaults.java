package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Every open fault of the node: the daemon's own judgement of its devices. Immutable; a fault is removed only with a proof.
 */
public final class OpenFaults {
    private final FaultPolicy policy;
    private final Map<FaultKey, OpenFault> open;

    private OpenFaults(FaultPolicy policy, Map<FaultKey, OpenFault> open) {
        this.policy = policy;
        this.open = open;
    }

    /** Restores the faults that were open when an earlier process ended. */
    public static OpenFaults restored(FaultPolicy policy, Collection<OpenFault> before, Moment now) {
        var open = new LinkedHashMap<FaultKey, OpenFault>();
        before.forEach(fault -> open.put(fault.key(), fault.afterRestart(now)));
        return new OpenFaults(policy, open);
    }

    /** Result of an observation. */
    public sealed interface ObservationResult {
        /** The next state. */
        OpenFaults next();

        /** The fault in the next state. */
        OpenFault fault();

        /** A fault that was not open. */
        record Opened(OpenFaults next, OpenFault fault) implements ObservationResult {}

        /** Another occurrence of an open fault. */
        record Repeated(OpenFaults next, OpenFault fault) implements ObservationResult {}

        /** Another source reported the previous occurrence. */
        record Duplicate(OpenFaults next, OpenFault fault) implements ObservationResult {}

        /** Another source reported the previous occurrence, with more details. */
        record Refined(OpenFaults next, OpenFault fault) implements ObservationResult {}
    }

    /** A closed fault, with the proof. */
    public record Cleared(OpenFault fault, String proof) {}

    /** The next state, and the faults that were closed. */
    public record ClearResult(OpenFaults next, List<Cleared> cleared) {}

    /** Returns every open fault, oldest first. */
    public Collection<OpenFault> open() {
        return List.copyOf(open.values());
    }

    /** Returns the oldest fault that withdraws a device; empty when none does. */
    public Optional<OpenFault> withdrawing(String gpuUuid) {
        return open.values().stream()
                .filter(fault -> fault.withdraws() && fault.key().gpuUuid().equals(gpuUuid))
                .findFirst();
    }

    /** Returns the open fault with the key. */
    public Optional<OpenFault> find(FaultKey key) {
        return Optional.ofNullable(open.get(key));
    }

    /** Whether a fault with the key is open and its cause present. */
    public boolean contains(FaultKey key) {
        return open.containsKey(key);
    }

    /** Applies an observation; the subject is what is known of the GPU now. */
    public ObservationResult observe(DeviceEvent.FaultDetected event, OpenFault.Subject subject, Moment now) {
        var key = new FaultKey(event.gpuUuid(), event.fault());
        var known = open.get(key);
        if (known == null) {
            var fault = new OpenFault(
                    key,
                    subject,
                    Observations.first(event, now),
                    new Reading.Unavailable<>("not polled yet"),
                    policy.decide(event.fault(), subject.subcode()),
                    isMonitored(event.origin()) ? new FaultCauseState.Monitored() : new FaultCauseState.Unmonitored());
            return new ObservationResult.Opened(with(fault), fault);
        }
        var seen = known.with(afterDetection(event.origin(), known.state()));
        if (known.observations().isDuplicate(event, now)) {
            OpenFault both = seen.with(known.observations().withDuplicate(event.origin()));
            XidSubcode reported = known.subject().subcode().mergedWith(subject.subcode());
            if (reported.equals(known.subject().subcode())) {
                return new ObservationResult.Duplicate(with(both), both);
            }
            OpenFault learnt = reevaluated(both.with(both.observations().withMessage(event.message()))
                    .with(both.subject().withSubcode(reported)));
            return new ObservationResult.Refined(with(learnt), learnt);
        }
        OpenFault again = reevaluated(seen.with(known.observations().repeated(event, now))
                .with(known.subject().mergedWith(subject)));
        return new ObservationResult.Repeated(with(again), again);
    }

    /** More details may withdraw a device, but never bring one back. */
    private OpenFault reevaluated(OpenFault fault) {
        WithdrawalDecision decided =
                policy.decide(fault.key().fault(), fault.subject().subcode());
        return fault.with(fault.withdrawal().mergedWith(decided));
    }

    /** The kernel log and NVML's events report that a fault began and never that it ended. */
    private static boolean isMonitored(FaultOrigin origin) {
        return switch (origin) {
            case POLL, SIMULATION -> true;
            case KERNEL_LOG, NVML_EVENT -> false;
        };
    }

    private static FaultCauseState afterDetection(FaultOrigin origin, FaultCauseState cause) {
        return switch (cause) {
            case FaultCauseState.Monitored there -> there;
            case FaultCauseState.Unmonitored unmonitored ->
                isMonitored(origin) ? unmonitored.detectedByMonitor() : unmonitored;
            case FaultCauseState.Resolved gone -> isMonitored(origin) ? gone.detectedByMonitor() : gone.redetected();
        };
    }

    /** Applies a proof that the cause is resolved; the dwell starts unless it has started. */
    public OpenFaults causeResolved(FaultKey key, String proof, Moment now) {
        var fault = open.get(key);
        return fault == null ? this : with(resolved(fault, proof, now));
    }

    private static OpenFault resolved(OpenFault fault, String proof, Moment now) {
        return switch (fault.state()) {
            case FaultCauseState.Monitored there -> fault.with(there.resolved(now.nanos(), proof));
            case FaultCauseState.Unmonitored unmonitored -> fault.with(unmonitored.resolved(now.nanos(), proof));
            case FaultCauseState.Resolved _ -> fault;
        };
    }

    /** Applies a poll of one GPU: it starts or cancels the dwell of its faults. */
    public OpenFaults polled(GpuSample sample, Moment now) {
        OpenFaults faults = this;
        for (OpenFault fault : open.values()) {
            if (fault.key().gpuUuid().equals(sample.gpuUuid())) {
                OpenFault polled = fault.recoveryAction(sample.recoveryAction())
                        .withEnergy(sample.device().power().energyMillijoules());
                if (FaultCauseEvaluator.isPresent(polled, sample)) {
                    faults = faults.with(
                            polled.state() instanceof FaultCauseState.Resolved gone
                                    ? polled.with(gone.redetected())
                                    : polled);
                } else {
                    faults = faults.with(FaultCauseEvaluator.resolution(polled, sample, now)
                            .map(proof -> resolved(polled, proof, now))
                            .orElse(polled));
                }
            }
        }
        return faults;
    }

    /**
     * Applies a reload of the driver, to which these GPUs respond: faults from before it was unloaded needed no more than that.
     *
     * @param wentNanos when the previous driver was last known to be loaded
     */
    public OpenFaults driverReloaded(Set<String> answering, long wentNanos, Moment now) {
        OpenFaults faults = this;
        for (OpenFault fault : open.values()) {
            String gpu = fault.key().gpuUuid();
            boolean before = fault.lastSeenNanos() - wentNanos <= 0;
            if (before
                    && FaultCauseEvaluator.endsWithDriverReload(fault)
                    && (gpu.isEmpty() || answering.contains(gpu))) {
                faults = faults.with(resolved(fault, "driver reloaded", now));
            }
        }
        return faults;
    }

    /** Resolves the faults of all GPUs but these, since the others were removed from the node. */
    public OpenFaults retainGpus(Set<String> gpuUuids, Moment now) {
        OpenFaults faults = this;
        for (OpenFault fault : open.values()) {
            String gpu = fault.key().gpuUuid();
            if (!gpu.isEmpty() && !gpuUuids.contains(gpu)) {
                faults = faults.with(resolved(fault, "GPU removed from the node", now));
            }
        }
        return faults;
    }

    /** Resolves restored faults of the whole node: the driver responds, and a present cause would be detected again. */
    public OpenFaults driverResponds(Moment now) {
        OpenFaults faults = this;
        for (OpenFault fault : open.values()) {
            boolean unmonitored = fault.state() instanceof FaultCauseState.Unmonitored;
            if (fault.key().gpuUuid().isEmpty() && unmonitored && !FaultCauseEvaluator.endsWithDriverReload(fault)) {
                faults = faults.with(resolved(fault, "driver responds", now));
            }
        }
        return faults;
    }

    /** Applies other overrides of single XIDs to the open faults. */
    public OpenFaults reevaluated(XidOverrides overrides) {
        FaultPolicy other = policy.with(overrides);
        var judged = new LinkedHashMap<FaultKey, OpenFault>();
        open.forEach((key, fault) -> judged.put(
                key, fault.with(other.decide(key.fault(), fault.subject().subcode()))));
        return new OpenFaults(other, judged);
    }

    /** Closes the faults whose cause is resolved and whose dwell has passed. */
    public ClearResult clearDue(Moment now) {
        var left = new LinkedHashMap<>(open);
        var cleared = new ArrayList<Cleared>();
        for (OpenFault fault : open.values()) {
            OptionalLong due = dueNanos(fault);
            if (due.isPresent()
                    && due.getAsLong() - now.nanos() <= 0
                    && fault.state() instanceof FaultCauseState.Resolved gone) {
                left.remove(fault.key());
                var dwell = policy.dwell(fault.key().fault());
                cleared.add(
                        new Cleared(fault, gone.dwellElapsed(dwell.toString()).proof()));
            }
        }
        return new ClearResult(cleared.isEmpty() ? this : new OpenFaults(policy, left), List.copyOf(cleared));
    }

    /** Closes every fault: the node rebooted, so every device was reset. */
    public ClearResult afterReboot(String bootId) {
        var cleared = open.values().stream()
                .map(fault -> new Cleared(
                        fault,
                        switch (fault.state()) {
                            case FaultCauseState.Monitored there ->
                                there.nodeRebooted(bootId).proof();
                            case FaultCauseState.Unmonitored unmonitored ->
                                unmonitored.nodeRebooted(bootId).proof();
                            case FaultCauseState.Resolved gone ->
                                gone.nodeRebooted(bootId).proof();
                        }))
                .toList();
        return new ClearResult(new OpenFaults(policy, Map.of()), cleared);
    }

    /** Returns when {@link #clearDue} is due next, by the monotonic clock. */
    public OptionalLong nextDueNanos() {
        return open.values().stream()
                .flatMapToLong(fault -> dueNanos(fault).stream())
                .min();
    }

    private OptionalLong dueNanos(OpenFault fault) {
        return switch (fault.state()) {
            case FaultCauseState.Monitored _, FaultCauseState.Unmonitored _ -> OptionalLong.empty();
            case FaultCauseState.Resolved(long sinceNanos, String _) ->
                OptionalLong.of(Math.max(sinceNanos, fault.lastSeenNanos())
                        + policy.dwell(fault.key().fault()).toNanos());
        };
    }

    private OpenFaults with(OpenFault fault) {
        var next = new LinkedHashMap<>(open);
        next.put(fault.key(), fault);
        return new OpenFaults(policy, next);
    }
}
