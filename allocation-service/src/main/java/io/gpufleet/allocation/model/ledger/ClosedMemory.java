package io.gpufleet.allocation.model.ledger;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What closed lately and which pods are over: so that a late fact is told as a difference, and told once. */
final class ClosedMemory {
    private static final Duration KEPT = Duration.ofHours(1);
    private static final int MAX_INTERVALS = 64;
    private static final int MAX_ENDED = 256;

    private final List<ClosedInterval> intervals;
    private final List<EndedPod> ended;
    private final List<UsageEntry> published = new ArrayList<>();

    ClosedMemory(List<ClosedInterval> intervals, List<EndedPod> ended) {
        this.intervals = new ArrayList<>(intervals);
        this.ended = new ArrayList<>(ended);
    }

    List<ClosedInterval> intervals() {
        return intervals;
    }

    List<EndedPod> endedPods() {
        return ended;
    }

    List<UsageEntry> published() {
        return List.copyOf(published);
    }

    /** An interval ended; published now. */
    void add(ClosedInterval interval) {
        intervals.add(interval);
        published.add(new UsageEntry.Closed(interval));
    }

    /** The end of a pod became known. */
    void ended(EndedPod pod) {
        ended.removeIf(known -> known.namespace().equals(pod.namespace())
                && known.pod().equals(pod.pod())
                && known.podUid().equals(pod.podUid()));
        ended.add(pod);
    }

    /** The known end of a holder that had the device from the given time. */
    Optional<EndedPod> endOf(Holder holder, Instant from) {
        Instant second = from.truncatedTo(ChronoUnit.SECONDS);
        return ended.stream().filter(pod -> pod.covers(holder, second)).max(Comparator.comparing(EndedPod::finishedAt));
    }

    /** True when the pod's time on this device was published already. */
    boolean knows(Holding holding, EndedPod pod) {
        return sameHolding(holding)
                .anyMatch(interval -> pod.covers(interval.holding().holder(), interval.from()));
    }

    /** Where the interval was cut that ended only because the Node object went: the machine never stopped. */
    Optional<Instant> cutOffByLoss(Holding holding) {
        return sameHolding(holding)
                .filter(interval -> interval.reason() == EndReason.NODE_LOST)
                .map(ClosedInterval::to)
                .max(Comparator.naturalOrder());
    }

    private java.util.stream.Stream<ClosedInterval> sameHolding(Holding holding) {
        return intervals.stream()
                .filter(interval -> interval.holding()
                        .device()
                        .slot()
                        .equals(holding.device().slot()))
                .filter(interval -> interval.holding().holder().maybeSame(holding.holder()));
    }

    /** Since when the holder of an open interval has the device: trust that came and went has cut it in pieces. */
    Instant heldSince(OpenInterval interval) {
        return sameHolding(interval.holding())
                .filter(piece -> piece.reason() == EndReason.TRUST_CHANGED)
                .map(ClosedInterval::from)
                .filter(from -> from.isBefore(interval.from()))
                .min(Comparator.naturalOrder())
                .orElse(interval.from());
    }

    /**
     * An interval ended before it began: a change of trust had cut it, which was known before an earlier release was. The
     * pieces before it end there, too; only the one that holds the end may still learn of a better one.
     */
    void addReturned(OpenInterval interval, Instant end, boolean estimated, EndReason reason) {
        published.add(new UsageEntry.Closed(interval.ended(end, estimated, reason)));
        List<ClosedInterval> pieces = sameHolding(interval.holding())
                .filter(piece ->
                        piece.reason() == EndReason.TRUST_CHANGED && piece.to().isAfter(end))
                .toList();
        for (ClosedInterval piece : pieces) {
            if (piece.from().isBefore(end)) {
                intervals.set(intervals.indexOf(piece), adjusted(piece, end, estimated, reason));
            } else {
                intervals.remove(piece);
                ClosedInterval _ = adjusted(piece, piece.from(), estimated, reason);
            }
        }
    }

    /** What closed before the pod's end was known is brought to that end. */
    void settle(EndedPod pod) {
        for (int i = 0; i < intervals.size(); i++) {
            ClosedInterval interval = intervals.get(i);
            if (!pod.covers(interval.holding().holder(), interval.from().truncatedTo(ChronoUnit.SECONDS))) {
                continue;
            }
            if (interval.to().isAfter(pod.finishedAt())) {
                Instant end = pod.finishedAt().isBefore(interval.from()) ? interval.from() : pod.finishedAt();
                intervals.set(i, adjusted(interval, end, false, EndReason.POD_FINISHED));
            } else if (interval.estimated() && isLast(interval)) {
                intervals.set(i, adjusted(interval, pod.finishedAt(), false, EndReason.POD_FINISHED));
            }
        }
    }

    // Of all that the pod had of the device, in whatever container: only the last stretch may have been longer.
    private boolean isLast(ClosedInterval interval) {
        return intervals.stream()
                .filter(other -> other.holding()
                        .device()
                        .slot()
                        .equals(interval.holding().device().slot()))
                .filter(other ->
                        other.holding().holder().maybeSamePod(interval.holding().holder()))
                .noneMatch(other -> other.to().isAfter(interval.to()));
    }

    private ClosedInterval adjusted(ClosedInterval interval, Instant end, boolean estimated, EndReason reason) {
        long difference =
                GpuTime.millis(interval.to(), end, interval.holding().device().shareOf());
        ClosedInterval next = interval.ending(end, estimated, reason);
        if (difference == 0) {
            return new ClosedInterval(
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

    /** What closed after a device lost its trust, though nobody had said so yet, counts otherwise from then on. */
    void distrust(Predicate<DeviceSlot> concerned, Instant since) {
        for (int i = 0; i < intervals.size(); i++) {
            ClosedInterval interval = intervals.get(i);
            Instant cut = since.isBefore(interval.from()) ? interval.from() : since;
            if (interval.quality() == Quality.ALLOCATED
                    && interval.reason() != EndReason.TRUST_CHANGED
                    && interval.to().isAfter(cut)
                    && concerned.test(interval.holding().device().slot())) {
                intervals.set(i, takenBack(interval, cut));
                add(new ClosedInterval(
                        IntervalId.continued(interval.id(), cut),
                        interval.holding(),
                        cut,
                        interval.to(),
                        Quality.ALLOCATED_WHILE_FAULTY,
                        interval.estimated(),
                        interval.reason(),
                        0));
            }
        }
    }

    private ClosedInterval takenBack(ClosedInterval interval, Instant cut) {
        ClosedInterval rest = interval.ending(cut, false, EndReason.TRUST_CHANGED);
        published.add(new UsageEntry.Adjusted(
                interval.id() + "/" + rest.adjustments(),
                interval.holding(),
                cut,
                interval.to(),
                interval.quality(),
                rest.gpuMillis() - interval.gpuMillis(),
                EndReason.TRUST_CHANGED));
        return rest;
    }

    void forgetBefore(Instant now) {
        intervals.removeIf(interval -> interval.to().plus(KEPT).isBefore(now));
        while (intervals.size() > MAX_INTERVALS) {
            intervals.removeFirst();
        }
    }

    /** A pod that a kubelet still lists is remembered, however long it is over. */
    void forgetEndedPods(Instant now, List<Holding> listed) {
        ended.removeIf(pod -> pod.finishedAt().plus(KEPT).isBefore(now)
                && listed.stream()
                        .map(Holding::holder)
                        .noneMatch(holder -> holder.namespace().equals(pod.namespace())
                                && holder.pod().equals(pod.pod())));
        while (ended.size() > MAX_ENDED) {
            ended.removeFirst();
        }
    }
}
