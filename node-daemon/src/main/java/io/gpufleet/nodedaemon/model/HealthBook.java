package io.gpufleet.nodedaemon.model;

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
 * The daemon's own opinion of its devices: every open fault of the node. Immutable; nothing in it becomes healthy by
 * forgetting.
 */
public final class HealthBook {
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

        /** Another source of the observation before, which says more of it. */
        record Learnt(HealthBook next, OpenFault fault) implements Observed {}
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

    /** The open fault of that key. */
    public Optional<OpenFault> find(FaultKey key) {
        return Optional.ofNullable(open.get(key));
    }

    /** Whether this very fault is open. */
    public boolean has(FaultKey key) {
        return open.containsKey(key);
    }

    /** Writes down an observation; the subject is what is known of the GPU now. */
    public Observed observe(Sign.FaultSeen sign, OpenFault.Subject subject, Moment now) {
        var key = new FaultKey(sign.gpuUuid(), sign.fault());
        var known = open.get(key);
        if (known == null) {
            var fault = new OpenFault(
                    key,
                    subject,
                    Sightings.first(sign, now),
                    new Reading.Unavailable<>("not polled since"),
                    policy.withdraws(sign.fault(), subject.subcode()),
                    watched(sign.source()) ? new Cause.There() : new Cause.Unwatched());
            return new Observed.Opened(with(fault), fault);
        }
        var seen = known.with(seenBy(sign.source(), known.cause()));
        if (known.sightings().pairs(sign, now)) {
            OpenFault both = seen.with(known.sightings().paired(sign.source()));
            Subcode told = known.subject().subcode().then(subject.subcode());
            if (told.equals(known.subject().subcode())) {
                return new Observed.Same(with(both), both);
            }
            OpenFault learnt = judged(both.with(both.sightings().told(sign.message()))
                    .with(both.subject().naming(told)));
            return new Observed.Learnt(with(learnt), learnt);
        }
        OpenFault again = judged(seen.with(known.sightings().again(sign, now))
                .with(known.subject().replacedBy(subject)));
        return new Observed.Again(with(again), again);
    }

    /** A word more may withdraw a device, and none brings one back. */
    private OpenFault judged(OpenFault fault) {
        boolean withdraws =
                policy.withdraws(fault.key().fault(), fault.subject().subcode());
        return fault.judged(fault.withdraws() || withdraws);
    }

    /** The kernel tells that something began and never that it ended. */
    private static boolean watched(FaultOrigin origin) {
        return switch (origin) {
            case NVML_EVENT, POLL, SIMULATION -> true;
            case KERNEL_LOG -> false;
        };
    }

    private static Cause seenBy(FaultOrigin origin, Cause cause) {
        return switch (cause) {
            case Cause.There there -> there;
            case Cause.Unwatched unwatched -> watched(origin) ? unwatched.watch() : unwatched;
            case Cause.Gone gone -> watched(origin) ? gone.watch() : gone.reopen();
        };
    }

    /** It is proven that the cause is gone; the dwell begins unless it had begun. */
    public HealthBook causeGone(FaultKey key, String proof, Moment now) {
        var fault = open.get(key);
        return fault == null ? this : with(ended(fault, proof, now));
    }

    private static OpenFault ended(OpenFault fault, String proof, Moment now) {
        return switch (fault.cause()) {
            case Cause.There there -> fault.with(there.end(now.nanos(), proof));
            case Cause.Unwatched unwatched -> fault.with(unwatched.end(now.nanos(), proof));
            case Cause.Gone _ -> fault;
        };
    }

    /** What a poll says of one GPU: begins or breaks off the dwell of its faults. */
    public HealthBook polled(Vitals vitals, Moment now) {
        HealthBook book = this;
        for (OpenFault fault : open.values()) {
            if (fault.key().gpuUuid().equals(vitals.gpuUuid())) {
                OpenFault polled = fault.asked(vitals.recoveryAction()).measured(vitals.energyMillijoules());
                if (Proof.stillThere(polled, vitals)) {
                    book = book.with(polled.cause() instanceof Cause.Gone gone ? polled.with(gone.reopen()) : polled);
                } else {
                    book = book.with(Proof.of(polled, vitals)
                            .map(proof -> ended(polled, proof, now))
                            .orElse(polled));
                }
            }
        }
        return book;
    }

    /**
     * The driver was loaded anew, and these GPUs answer it: what was seen before it went needed no more than that.
     *
     * @param wentNanos when the driver before was last known to be there
     */
    public HealthBook driverLoadedAnew(Set<String> answering, long wentNanos, Moment now) {
        HealthBook book = this;
        for (OpenFault fault : open.values()) {
            String gpu = fault.key().gpuUuid();
            boolean before = fault.lastSeenNanos() - wentNanos <= 0;
            if (before && Proof.isOfTheDriver(fault) && (gpu.isEmpty() || answering.contains(gpu))) {
                book = book.with(ended(fault, "the driver was loaded anew", now));
            }
        }
        return book;
    }

    /** These are all GPUs that the node has: what caused the faults of others went with them. */
    public HealthBook tookOutAllBut(Set<String> gpuUuids, Moment now) {
        HealthBook book = this;
        for (OpenFault fault : open.values()) {
            String gpu = fault.key().gpuUuid();
            if (!gpu.isEmpty() && !gpuUuids.contains(gpu)) {
                book = book.with(ended(fault, "the GPU was taken out of the machine", now));
            }
        }
        return book;
    }

    /** The driver answers: a fault of the whole node that an earlier process saw would be told anew if it still stood. */
    public HealthBook driverAnswers(Moment now) {
        HealthBook book = this;
        for (OpenFault fault : open.values()) {
            boolean unwatched = fault.cause() instanceof Cause.Unwatched;
            if (fault.key().gpuUuid().isEmpty() && unwatched && !Proof.isOfTheDriver(fault)) {
                book = book.with(ended(fault, "the driver answers", now));
            }
        }
        return book;
    }

    /** The book after an operator spoke about single XIDs: open faults withdraw, or not, by the new words. */
    public HealthBook judged(XidOverrides overrides) {
        FaultPolicy other = policy.with(overrides);
        var judged = new LinkedHashMap<FaultKey, OpenFault>();
        open.forEach((key, fault) -> judged.put(
                key, fault.judged(other.withdraws(key.fault(), fault.subject().subcode()))));
        return new HealthBook(other, judged);
    }

    /** Takes out the faults whose cause is gone and which were quiet for the dwell. */
    public Settled settle(Moment now) {
        var left = new LinkedHashMap<>(open);
        var cleared = new ArrayList<Cleared>();
        for (OpenFault fault : open.values()) {
            OptionalLong due = dueNanos(fault);
            if (due.isPresent() && due.getAsLong() - now.nanos() <= 0 && fault.cause() instanceof Cause.Gone gone) {
                left.remove(fault.key());
                var dwell = policy.dwell(fault.key().fault());
                cleared.add(new Cleared(fault, gone.settle(dwell.toString()).proof()));
            }
        }
        return new Settled(cleared.isEmpty() ? this : new HealthBook(policy, left), List.copyOf(cleared));
    }

    /** Takes out everything: the machine booted anew, so every device was reset. */
    public Settled afterBoot(String bootId) {
        var cleared = open.values().stream()
                .map(fault -> new Cleared(
                        fault,
                        switch (fault.cause()) {
                            case Cause.There there -> there.boot(bootId).proof();
                            case Cause.Unwatched unwatched ->
                                unwatched.boot(bootId).proof();
                            case Cause.Gone gone -> gone.boot(bootId).proof();
                        }))
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
            case Cause.There _, Cause.Unwatched _ -> OptionalLong.empty();
            case Cause.Gone(long sinceNanos, String _) ->
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
