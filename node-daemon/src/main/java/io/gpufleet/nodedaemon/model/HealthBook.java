package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The daemon's own opinion of its devices: every open fault of the node. Immutable; nothing in it becomes healthy by
 * forgetting.
 */
public final class HealthBook {
    /** Two sources that report one XID of one GPU within this time saw one thing. */
    public static final Duration ONE_OBSERVATION = Duration.ofSeconds(5);

    private final FaultPolicy policy;
    private final Map<FaultKey, OpenFault> open;

    private HealthBook(FaultPolicy policy, Map<FaultKey, OpenFault> open) {
        this.policy = policy;
        this.open = open;
    }

    /** A book with the faults that were open when an earlier process ended. */
    public static HealthBook inheriting(FaultPolicy policy, Collection<OpenFault> before, Moment now) {
        var open = new LinkedHashMap<FaultKey, OpenFault>();
        before.forEach(fault -> open.put(fault.key(), fault.inherited(now)));
        return new HealthBook(policy, open);
    }

    /** What became of an observation. */
    public sealed interface Observed {
        /** The book afterwards. */
        HealthBook next();

        /** The fault as it stands in the book now. */
        OpenFault fault();

        /** A fault that was not open. */
        record Opened(HealthBook next, OpenFault fault) implements Observed {}

        /** An open fault once more. */
        record Again(HealthBook next, OpenFault fault) implements Observed {}

        /** Another source of the observation before. */
        record Same(HealthBook next, OpenFault fault) implements Observed {}
    }

    /** A fault that is proven gone, and how. */
    public record Cleared(OpenFault fault, String proof) {}

    /** The book after some faults were proven gone. */
    public record Settled(HealthBook next, List<Cleared> cleared) {}

    /** Every open fault, oldest first. */
    public Collection<OpenFault> open() {
        return List.copyOf(open.values());
    }

    /** The fault that keeps a device from being handed out, the oldest of them. */
    public Optional<OpenFault> withdrawing(String gpuUuid) {
        return open.values().stream()
                .filter(fault -> fault.withdraws() && fault.key().gpuUuid().equals(gpuUuid))
                .findFirst();
    }

    /** Whether this very fault is open. */
    public boolean has(FaultKey key) {
        return open.containsKey(key);
    }

    /** Writes down an observation. */
    public Observed observe(Sign.FaultSeen sign, String model, Moment now) {
        var key = new FaultKey(sign.gpuUuid(), sign.fault());
        var known = open.get(key);
        if (known == null) {
            var fault = new OpenFault(
                    key,
                    sign.migUuid(),
                    model,
                    Set.of(sign.source()),
                    new Reading.Unavailable<>("not polled since"),
                    sign.message(),
                    policy.withdraws(sign.fault()),
                    now.wall(),
                    1,
                    now.nanos(),
                    new OpenFault.Cause.There());
            return new Observed.Opened(with(fault), fault);
        }
        boolean soon = now.since(known.lastSeenNanos()).compareTo(ONE_OBSERVATION) <= 0;
        if (soon && !known.origins().contains(sign.source())) {
            OpenFault both = known.alsoSeenBy(sign.source());
            return new Observed.Same(with(both), both);
        }
        OpenFault again = known.seenAgain(sign, now);
        return new Observed.Again(with(again), again);
    }

    /** A source says that the cause is gone; the dwell begins unless it had begun. */
    public HealthBook causeGone(FaultKey key, String proof, Moment now) {
        var fault = open.get(key);
        return fault == null || fault.cause() instanceof OpenFault.Cause.Gone
                ? this
                : with(fault.with(new OpenFault.Cause.Gone(now.nanos(), proof)));
    }

    /** What a poll says of one GPU: begins or breaks off the dwell of its faults. */
    public HealthBook polled(Vitals vitals, Moment now) {
        HealthBook book = this;
        for (OpenFault fault : open.values()) {
            if (fault.key().gpuUuid().equals(vitals.gpuUuid())) {
                OpenFault polled = fault.asked(vitals.recoveryAction());
                book = book.with(polled);
                if (stillThere(polled, vitals)) {
                    book = book.with(polled.with(
                            polled.cause() instanceof OpenFault.Cause.Inherited inherited
                                    ? inherited
                                    : new OpenFault.Cause.There()));
                } else if (provenGone(polled, vitals)) {
                    book = book.causeGone(polled.key(), "recovery action NONE, handle answers", now);
                }
            }
        }
        return book;
    }

    private static boolean stillThere(OpenFault fault, Vitals vitals) {
        boolean dead = vitals.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers;
        boolean asks = vitals.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction action)
                && action != RecoveryAction.NONE;
        return fault.withdraws() && (dead || asks);
    }

    private static boolean provenGone(OpenFault fault, Vitals vitals) {
        boolean answers = vitals.answers().orElse(false);
        boolean inherited = fault.cause() instanceof OpenFault.Cause.Inherited;
        boolean asksNothing = vitals.recoveryAction() instanceof Reading.Known<RecoveryAction>(RecoveryAction action)
                && action == RecoveryAction.NONE;
        return switch (fault.key().fault()) {
            case FaultCode.Xid _, FaultCode.Sxid _ ->
                // Where the driver can not say what it asks for, only a new boot proves a fatal one gone.
                inherited && answers && (asksNothing || !fault.withdraws());
            case FaultCode.RecoveryAsked _ -> asksNothing;
            case FaultCode.Plain(FaultCode.Kind kind) ->
                switch (kind) {
                    case GPU_LOST ->
                        answers && (asksNothing || vitals.recoveryAction() instanceof Reading.Unavailable<?>);
                    case DRIVER -> false;
                    // Their own source says when they end; it tells anew of what is still there.
                    case NVML_HUNG,
                            ECC_UNCORRECTABLE,
                            ROW_REMAP,
                            NVLINK,
                            PCIE,
                            THROTTLE,
                            INFOROM,
                            EVENT_WAIT,
                            FABRIC,
                            MEMORY_UNREADABLE -> inherited && answers;
                };
        };
    }

    /** The book after an operator spoke about single XIDs: open faults withdraw, or not, by the new words. */
    public HealthBook judged(XidOverrides overrides) {
        FaultPolicy other = policy.with(overrides);
        var judged = new LinkedHashMap<FaultKey, OpenFault>();
        open.forEach((key, fault) -> judged.put(key, fault.judged(other.withdraws(key.fault()))));
        return new HealthBook(other, judged);
    }

    /** Takes out the faults whose cause is gone and which were quiet for the dwell. */
    public Settled settle(Moment now) {
        var left = new LinkedHashMap<>(open);
        var cleared = new ArrayList<Cleared>();
        for (OpenFault fault : open.values()) {
            OptionalLong due = dueNanos(fault);
            if (due.isPresent()
                    && due.getAsLong() - now.nanos() <= 0
                    && fault.cause() instanceof OpenFault.Cause.Gone(long _, String proof)) {
                left.remove(fault.key());
                cleared.add(new Cleared(
                        fault, proof + ", quiet for " + policy.dwell(fault.key().fault())));
            }
        }
        return new Settled(cleared.isEmpty() ? this : new HealthBook(policy, left), List.copyOf(cleared));
    }

    /** Takes out everything: the machine booted anew, so every device was reset. */
    public Settled afterBoot(String bootId) {
        var cleared = open.values().stream()
                .map(fault -> new Cleared(fault, "new boot id " + bootId))
                .toList();
        return new Settled(new HealthBook(policy, Map.of()), cleared);
    }

    /** When {@link #settle} has something to do next, by the monotonic clock. */
    public OptionalLong nextDueNanos() {
        return open.values().stream()
                .flatMapToLong(fault -> dueNanos(fault).stream())
                .min();
    }

    private OptionalLong dueNanos(OpenFault fault) {
        return switch (fault.cause()) {
            case OpenFault.Cause.There _, OpenFault.Cause.Inherited _ -> OptionalLong.empty();
            case OpenFault.Cause.Gone(long sinceNanos, String _) ->
                OptionalLong.of(Math.max(sinceNanos, fault.lastSeenNanos())
                        + policy.dwell(fault.key().fault()).toNanos());
        };
    }

    private HealthBook with(OpenFault fault) {
        var next = new LinkedHashMap<>(open);
        next.put(fault.key(), fault);
        return new HealthBook(policy, next);
    }
}
