package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.GpuTime;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Working copy of a {@link ClosedUsage} while one fact is folded. Publishes a late fact about a closed interval as an
 * adjustment, once.
 */
final class MutableClosedUsage {
    private static final Duration RETENTION = Duration.ofHours(1);
    /** Time within which the end of a pod follows the snapshot without it, also for a late replica of the service. */
    private static final Duration RECENT = Duration.ofMinutes(10);

    /** Bytes of intervals beyond which those that are neither recent nor lost are forgotten. */
    private static final int MAX_SETTLED_BYTES = 24 * 1_024;

    /** Bytes of intervals in all, of the node's state, where a record may have 1 MiB. */
    private static final int MAX_BYTES = 320 * 1_024;

    private static final int MAX_FINISHED_PODS = 256;

    private final List<ClosedUsageInterval> intervals;
    private final List<FinishedPod> finished;
    private final MutableKnownPods pods;
    private final List<UsageEntry> published = new ArrayList<>();

    MutableClosedUsage(ClosedUsage before) {
        this.intervals = new ArrayList<>(before.intervals());
        this.finished = new ArrayList<>(before.finishedPods());
        this.pods = new MutableKnownPods(before.knownPods());
    }

    ClosedUsage toClosedUsage() {
        return new ClosedUsage(intervals, finished, pods.pods());
    }

    List<UsageEntry> published() {
        return List.copyOf(published);
    }

    /** Adds an interval that ended, and publishes it. */
    void add(ClosedUsageInterval interval) {
        intervals.add(interval);
        published.add(new UsageEntry.Closed(interval));
    }

    /** Adds a pod whose owner and labels are known. */
    void known(KnownPod pod) {
        pods.add(pod);
    }

    /** Adds a finished pod. */
    void finished(FinishedPod pod) {
        finished.removeIf(known -> known.namespace().equals(pod.namespace())
                && known.pod().equals(pod.pod())
                && known.podUid().equals(pod.podUid()));
        finished.add(pod);
    }

    /** The known end of the pod of a holder that had the device from the given time. */
    Optional<FinishedPod> finishOf(Holder holder, Instant from) {
        Instant second = from.truncatedTo(ChronoUnit.SECONDS);
        return finished.stream()
                .filter(pod -> pod.matches(holder, second))
                .max(Comparator.comparing(FinishedPod::finishedAt));
    }

    /** True when the interval of the pod on this device was published. */
    boolean isPublished(Holding holding, FinishedPod pod) {
        return sameHolding(holding)
                .anyMatch(interval -> pod.matches(interval.holding().holder(), interval.from()));
    }

    /** End of the interval that ended because the Node object was deleted, although the machine went on. */
    Optional<Instant> endedByNodeLoss(Holding holding) {
        return sameHolding(holding)
                .filter(interval -> interval.reason() == IntervalEndReason.NODE_LOST
                        && interval.quality() != IntervalQuality.UNREACHABLE)
                .map(ClosedUsageInterval::to)
                .max(Comparator.naturalOrder());
    }

    /** Takes back the unreachable time that was published for a holder, now that it is proven to have had the device. */
    void withdrawUnreachable(Holding holding) {
        List<ClosedUsageInterval> unproven = sameHolding(holding)
                .filter(interval -> interval.reason() == IntervalEndReason.NODE_LOST
                        && interval.quality() == IntervalQuality.UNREACHABLE)
                .toList();
        intervals.removeAll(unproven);
        unproven.forEach(interval -> {
            ClosedUsageInterval _ = adjusted(interval, interval.from(), true, IntervalEndReason.NODE_LOST);
        });
    }

    /** A lost interval is not resumed: another boot, or another machine, has holdings from its own start. */
    void settleNodeLoss(IntervalEndReason reason) {
        intervals.replaceAll(
                interval -> interval.reason() == IntervalEndReason.NODE_LOST ? interval.withReason(reason) : interval);
    }

    private Stream<ClosedUsageInterval> sameHolding(Holding holding) {
        return intervals.stream()
                .filter(interval -> interval.holding()
                        .device()
                        .slot()
                        .equals(holding.device().slot()))
                .filter(interval -> interval.holding().holder().maybeSameContainer(holding.holder()));
    }

    /** Start of the time for which the holder of an open interval has the device: changes of trust split the interval. */
    Instant heldSince(OpenUsageInterval interval) {
        return sameHolding(interval.holding())
                .filter(piece -> piece.reason() == IntervalEndReason.TRUST_CHANGED)
                .map(ClosedUsageInterval::from)
                .filter(from -> from.isBefore(interval.from()))
                .min(Comparator.naturalOrder())
                .orElse(interval.from());
    }

    /**
     * Adds an interval that ended before its start: a change of trust had split it before an earlier release became
     * known. The pieces before it end there, too; only the piece that contains the end can be adjusted again.
     */
    void addEndedBeforeStart(OpenUsageInterval interval, Instant end, boolean estimated, IntervalEndReason reason) {
        published.add(new UsageEntry.Closed(interval.close(end, estimated, reason)));
        List<ClosedUsageInterval> pieces = sameHolding(interval.holding())
                .filter(piece -> piece.reason() == IntervalEndReason.TRUST_CHANGED
                        && piece.to().isAfter(end))
                .toList();
        for (ClosedUsageInterval piece : pieces) {
            if (piece.from().isBefore(end)) {
                intervals.set(intervals.indexOf(piece), adjusted(piece, end, estimated, reason));
            } else {
                intervals.remove(piece);
                ClosedUsageInterval _ = adjusted(piece, piece.from(), estimated, reason);
            }
        }
    }

    /** Adjusts intervals that closed before the end of their pod was known to that end. */
    void applyFinish(FinishedPod pod) {
        for (int i = 0; i < intervals.size(); i++) {
            ClosedUsageInterval interval = intervals.get(i);
            if (!pod.matches(interval.holding().holder(), interval.from().truncatedTo(ChronoUnit.SECONDS))) {
                continue;
            }
            if (interval.quality() == IntervalQuality.UNREACHABLE) {
                if (interval.provenBy(pod)) {
                    intervals.set(i, adjusted(interval, interval.from(), true, interval.reason()));
                }
            } else if (interval.to().isAfter(pod.finishedAt())) {
                Instant end = pod.finishedAt().isBefore(interval.from()) ? interval.from() : pod.finishedAt();
                intervals.set(i, adjusted(interval, end, false, IntervalEndReason.POD_FINISHED));
            } else if (interval.endEstimated() && isLast(interval)) {
                intervals.set(i, adjusted(interval, pod.finishedAt(), false, IntervalEndReason.POD_FINISHED));
            }
        }
    }

    // Only the last reachable interval of a pod on a device, in any of its containers, may have been longer.
    private boolean isLast(ClosedUsageInterval interval) {
        return intervals.stream()
                .filter(other -> other.holding()
                        .device()
                        .slot()
                        .equals(interval.holding().device().slot()))
                .filter(other -> other.quality() != IntervalQuality.UNREACHABLE)
                .filter(other ->
                        other.holding().holder().maybeSamePod(interval.holding().holder()))
                .noneMatch(other -> other.to().isAfter(interval.to()));
    }

    private ClosedUsageInterval adjusted(
            ClosedUsageInterval interval, Instant end, boolean estimated, IntervalEndReason reason) {
        long difference =
                GpuTime.millis(interval.to(), end, interval.holding().device().fraction());
        ClosedUsageInterval next = interval.withEnd(end, estimated, reason);
        if (difference == 0) {
            return new ClosedUsageInterval(
                    interval.id(),
                    interval.holding(),
                    interval.from(),
                    end,
                    interval.quality(),
                    estimated,
                    reason,
                    interval.adjustments());
        }
        boolean shorter = end.isBefore(interval.to());
        published.add(new UsageEntry.Adjusted(
                interval.id() + "/" + next.adjustments(),
                interval.holding(),
                shorter ? end : interval.to(),
                shorter ? interval.to() : end,
                interval.quality(),
                difference,
                reason));
        return next;
    }

    /** Splits intervals that closed after a device lost trust and before that was known. */
    void splitUntrusted(Predicate<DeviceSlot> affected, Instant since) {
        for (int i = 0; i < intervals.size(); i++) {
            ClosedUsageInterval interval = intervals.get(i);
            Instant splitAt = since.isBefore(interval.from()) ? interval.from() : since;
            if (interval.quality() == IntervalQuality.ALLOCATED
                    && interval.reason() != IntervalEndReason.TRUST_CHANGED
                    && interval.to().isAfter(splitAt)
                    && affected.test(interval.holding().device().slot())) {
                intervals.set(i, truncated(interval, splitAt));
                add(new ClosedUsageInterval(
                        IntervalId.continued(interval.publishedId(), splitAt),
                        interval.holding(),
                        splitAt,
                        interval.to(),
                        IntervalQuality.ALLOCATED_WHILE_FAULTY,
                        interval.endEstimated(),
                        interval.reason(),
                        0));
            }
        }
    }

    private ClosedUsageInterval truncated(ClosedUsageInterval interval, Instant splitAt) {
        ClosedUsageInterval rest = interval.withEnd(splitAt, false, IntervalEndReason.TRUST_CHANGED);
        published.add(new UsageEntry.Adjusted(
                interval.id() + "/" + rest.adjustments(),
                interval.holding(),
                splitAt,
                interval.to(),
                interval.quality(),
                rest.gpuMillis() - interval.gpuMillis(),
                IntervalEndReason.TRUST_CHANGED));
        return rest;
    }

    /**
     * Forgets what closed long ago, and of what closed lately the oldest beyond a number of bytes; what a silent daemon
     * held is kept longer, since it may hold it still.
     */
    void forgetBefore(Instant now) {
        List<ClosedUsageInterval> old = intervals.stream()
                .filter(interval -> interval.to().plus(retention(interval)).isBefore(now))
                .toList();
        intervals.removeAll(old);
        // A late end would prolong a lost interval although a forgotten one followed it.
        old.forEach(last -> intervals.removeIf(interval -> isFollowed(interval, last)));
        int bytes = intervals.stream().mapToInt(ClosedUsageInterval::bytes).sum();
        bytes = forgetOldest(
                bytes,
                MAX_SETTLED_BYTES,
                interval -> !lost(interval) && interval.to().plus(RECENT).isBefore(now));
        forgetOldest(bytes, MAX_BYTES, _ -> true);
    }

    /** Forgets the oldest of some intervals until all of them take no more than so many bytes; returns what they take. */
    private int forgetOldest(int bytes, int max, Predicate<ClosedUsageInterval> some) {
        int left = bytes;
        for (var oldest = intervals.iterator(); left > max && oldest.hasNext(); ) {
            ClosedUsageInterval interval = oldest.next();
            if (some.test(interval)) {
                oldest.remove();
                left -= interval.bytes();
            }
        }
        return left;
    }

    private static boolean isFollowed(ClosedUsageInterval interval, ClosedUsageInterval last) {
        return interval.quality() != IntervalQuality.UNREACHABLE
                && interval.holding()
                        .device()
                        .slot()
                        .equals(last.holding().device().slot())
                && interval.holding().holder().maybeSamePod(last.holding().holder())
                && !interval.to().isAfter(last.to());
    }

    private static Duration retention(ClosedUsageInterval interval) {
        return lost(interval) ? NodeLedger.FORGET_AFTER : RETENTION;
    }

    private static boolean lost(ClosedUsageInterval interval) {
        return interval.reason() == IntervalEndReason.NODE_LOST || interval.quality() == IntervalQuality.UNREACHABLE;
    }

    /** Forgets owners and labels of pods that no interval of the state is of; before pods that finished are forgotten. */
    void forgetKnownPods(LedgerFact.HoldingsSnapshot snapshot) {
        Set<String> over = finished.stream()
                .filter(pod -> pod.finishedAt().plus(RECENT).isBefore(snapshot.at()))
                .map(pod -> pod.namespace() + "/" + pod.pod() + "/" + pod.podUid())
                .collect(Collectors.toSet());
        pods.forget(
                snapshot.appendedAt().minus(RETENTION),
                pod -> over.contains(pod.namespace() + "/" + pod.pod() + "/" + pod.podUid()),
                Stream.concat(snapshot.holdings().stream(), intervals.stream().map(ClosedUsageInterval::holding))
                        .map(Holding::holder)
                        .toList());
    }

    /** Forgets pods that finished long ago, except those that a kubelet still lists. */
    void forgetFinishedPods(Instant now, List<Holding> listed) {
        finished.removeIf(pod -> pod.finishedAt().plus(RETENTION).isBefore(now)
                && listed.stream()
                        .map(Holding::holder)
                        .noneMatch(holder -> holder.namespace().equals(pod.namespace())
                                && holder.pod().equals(pod.pod())));
        while (finished.size() > MAX_FINISHED_PODS) {
            finished.removeFirst();
        }
    }
}
