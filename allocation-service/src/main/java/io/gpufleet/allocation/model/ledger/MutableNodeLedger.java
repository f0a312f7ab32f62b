package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.devicetime.MutableNodeDevices;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Working copy of a {@link NodeLedger} while one fact is folded. */
final class MutableNodeLedger {
    private static final Duration BIND_TIMEOUT = Duration.ofSeconds(60);
    private static final int MAX_PENDING = 128;

    private final String cluster;
    private final String node;
    private String bootId;
    private final TreeMap<DeviceSlot, OpenUsageInterval> open;
    private final List<PendingAllocate> pending;
    private final MutableNodeDevices devices;
    private final MutableClosedUsage closed;
    private NodeClock clock;
    private AnnouncedGpus gpus;
    private @Nullable Instant goneSince;
    private final boolean known;
    /** Starts of unreachable intervals whose holder the snapshot lists. */
    private final Map<DeviceSlot, Instant> proven = new HashMap<>();

    MutableNodeLedger(String cluster, String node, NodeLedger before) {
        this.cluster = cluster;
        this.node = node;
        this.bootId = before.bootId();
        this.open = new TreeMap<>(before.open());
        this.pending = new ArrayList<>(before.pending());
        this.devices = new MutableNodeDevices(before.devices());
        this.closed = new MutableClosedUsage(before.closed());
        this.clock = before.clock();
        this.gpus = before.gpus();
        this.goneSince = before.goneSince();
        this.known = !before.equals(NodeLedger.EMPTY);
    }

    LedgerUpdate fold(LedgerFact fact) {
        switch (fact) {
            case LedgerFact.Allocated allocated -> allocated(allocated);
            case LedgerFact.HoldingsSnapshot snapshot -> snapshot(snapshot);
            case LedgerFact.PodKnown(KnownPod pod) -> closed.known(pod);
            case LedgerFact.PodFinished(FinishedPod pod) -> podFinished(pod);
            case LedgerFact.TrustChanged trust -> trustChanged(trust);
            case LedgerFact.GpusAnnounced(AnnouncedGpus announced) -> {
                gpus = announced;
                devices.announced(announced.migParents());
            }
            case LedgerFact.GpusListed listed ->
                devices.listed(listed.gpus(), listed.withdrawn(), listed.complete(), listed.at());
            case LedgerFact.UnallocatedUse(var uuids, Instant at) -> devices.unallocated(uuids, at);
            case LedgerFact.DaemonHeard(Instant appendedAt) -> heard(appendedAt);
            case LedgerFact.DaemonSilent(Instant lastWord) -> {
                clock = clock.heard(lastWord);
                devices.silent(lastWord(lastWord), goneSince != null);
                unreachableFrom(lastWord(lastWord));
            }
            case LedgerFact.NodeObserved _ -> goneSince = null;
            case LedgerFact.MachineGone(Instant appendedAt, IntervalEndReason reason) ->
                machineGone(appendedAt, reason);
        }
        var next = new NodeLedger(
                bootId, open, pending, devices.toNodeDevices(), clock, closed.toClosedUsage(), gpus, goneSince);
        return new LedgerUpdate(next, closed.published(), List.of());
    }

    private void heard(Instant appendedAt) {
        if (!open.isEmpty() || devices.hasGpus()) {
            clock = clock.heard(appendedAt);
        }
        devices.heard(clock.at(appendedAt));
        if (goneSince != null && goneSince.isBefore(appendedAt)) {
            goneSince = appendedAt;
        }
    }

    private void machineGone(Instant appendedAt, IntervalEndReason reason) {
        Instant gone = clock.at(appendedAt);
        Instant last = lastWord(appendedAt);
        if (last.plus(NodeClock.TOLERATED_SILENCE).isBefore(gone)) {
            unreachableFrom(last);
            closeAll(gone, reason);
            devices.silent(last, false);
            devices.gone(gone, reason == IntervalEndReason.NODE_LOST);
        } else {
            closeUnreachable(gone, reason);
            closeAll(last, reason);
        }
        if (reason == IntervalEndReason.MACHINE_REPLACED) {
            closed.settleNodeLoss(reason);
            devices.gone(gone, false);
        }
        // A replaced machine has a successor; of a node that was never known nothing needs to be forgotten.
        if (reason == IntervalEndReason.NODE_LOST && known && goneSince == null) {
            goneSince = appendedAt;
        }
    }

    /** Until when the daemon vouched for what is held, by the node's clock; its objects may outlive it for days. */
    private Instant lastWord(Instant appendedAt) {
        Instant heard = clock.heardAt();
        boolean known = !heard.equals(Instant.EPOCH);
        return max(clock.at(known && heard.isBefore(appendedAt) ? heard : appendedAt), clock.lastSnapshot());
    }

    /** Nobody vouches any more for what is held: it ends, and what follows is kept apart until it is proven. */
    private void unreachableFrom(Instant end) {
        for (OpenUsageInterval interval : List.copyOf(open.values())) {
            if (interval.quality() != IntervalQuality.UNREACHABLE) {
                Instant heldSince = closed.heldSince(interval);
                close(interval, end, true, IntervalEndReason.NODE_LOST);
                open.put(interval.slot(), interval.continuedFrom(max(end, heldSince), IntervalQuality.UNREACHABLE));
            }
        }
        pending.clear();
    }

    private void closeUnreachable(Instant end, IntervalEndReason reason) {
        List.copyOf(open.values()).stream()
                .filter(interval -> interval.quality() == IntervalQuality.UNREACHABLE)
                .forEach(interval -> close(interval, end, true, reason));
    }

    private void allocated(LedgerFact.Allocated fact) {
        newBoot(fact.bootId(), fact.at());
        pending.add(new PendingAllocate(
                fact.deviceIds(), fact.resource(), fact.at(), fact.appendedAt(), fact.eventSequence()));
        forgetPending(fact.at());
        closed.forgetBefore(fact.at());
    }

    private void snapshot(LedgerFact.HoldingsSnapshot fact) {
        newBoot(fact.bootId(), fact.at());
        clock = clock.snapshot(fact.at(), fact.clockAheadMillis()).heard(fact.appendedAt());
        Map<DeviceSlot, Holding> held = held(fact);
        Map<DeviceSlot, Instant> ends = new HashMap<>();
        for (OpenUsageInterval interval : List.copyOf(open.values())) {
            compare(interval, Optional.ofNullable(held.get(interval.slot())), fact)
                    .ifPresent(end -> ends.put(interval.slot(), end));
        }
        held.forEach((slot, holding) -> {
            if (!open.containsKey(slot)) {
                open(holding, fact, ends.getOrDefault(slot, Instant.MIN));
            }
            removePending(holding.device().id());
        });
        forgetPending(fact.at());
        closed.forgetBefore(fact.at());
        if (fact.complete()) {
            closed.forgetKnownPods(fact);
            closed.forgetFinishedPods(fact.at(), fact.holdings());
        }
    }

    /** Ends the interval if the snapshot shows that it is over; returns the end. */
    private Optional<Instant> compare(
            OpenUsageInterval interval, Optional<Holding> now, LedgerFact.HoldingsSnapshot fact) {
        Holder before = interval.holding().holder();
        if (now.isEmpty()) {
            return fact.complete()
                    ? Optional.of(released(interval, fact, IntervalEndReason.RELEASED))
                    : Optional.empty();
        }
        Holding holding = now.get();
        if (!before.maybeSameContainer(holding.holder())) {
            boolean renamed = before.namespace().equals(holding.holder().namespace())
                    && before.pod().equals(holding.holder().pod())
                    && Holder.uidsDiffer(before.podUid(), holding.holder().podUid());
            return Optional.of(
                    released(interval, fact, renamed ? IntervalEndReason.UID_CHANGED : IntervalEndReason.RELEASED));
        }
        if (interval.quality() == IntervalQuality.UNREACHABLE) {
            open.remove(interval.slot());
            proven.put(interval.slot(), interval.from());
            return Optional.empty();
        }
        if (!interval.holding().device().countsLike(holding.device())) {
            close(interval, fact.at(), false, IntervalEndReason.DEVICE_CHANGED);
            return Optional.of(fact.at());
        }
        open.put(interval.slot(), interval.withPodUid(holding.holder().podUid()));
        return Optional.empty();
    }

    /** Ends an interval at a new Allocate of its device, or else at the snapshot, which is the first without it. */
    private Instant released(OpenUsageInterval interval, LedgerFact.HoldingsSnapshot fact, IntervalEndReason reason) {
        Instant end = allocatedAt(interval.holding().device().id(), fact)
                .filter(at -> at.isAfter(closed.heldSince(interval)))
                .orElse(fact.at());
        close(interval, end, true, reason);
        return end;
    }

    private void open(Holding holding, LedgerFact.HoldingsSnapshot fact, Instant notBefore) {
        Instant start = max(startOf(holding, fact), notBefore);
        Instant from = Optional.ofNullable(proven.get(holding.device().slot()))
                .or(() -> closed.endedByNodeLoss(holding))
                .orElse(start);
        Optional<FinishedPod> end = closed.finishOf(holding.holder(), from);
        if (end.isPresent() && (!end.get().finishedAt().isAfter(from) || closed.isPublished(holding, end.get()))) {
            return;
        }
        closed.withdrawUnreachable(holding);
        String id = IntervalId.opened(cluster, node, holding, fact.eventSequence());
        open.put(
                holding.device().slot(),
                new OpenUsageInterval(id, holding, from, IntervalQuality.ALLOCATED, fact.appendedAt()));
        DeviceSlot slot = holding.device().slot();
        splitWhileUntrusted(slot, end.map(FinishedPod::finishedAt).orElse(Instant.MAX));
        end.ifPresent(pod -> closeSlot(slot, pod.finishedAt()));
    }

    private void closeSlot(DeviceSlot slot, Instant finishedAt) {
        OpenUsageInterval interval = open.get(slot);
        if (interval != null) {
            close(interval, finishedAt, false, IntervalEndReason.POD_FINISHED);
        }
    }

    private void podFinished(FinishedPod pod) {
        closed.finished(pod);
        for (OpenUsageInterval interval : List.copyOf(open.values())) {
            if (interval.quality() == IntervalQuality.UNREACHABLE) {
                // Whenever it was: until then the pod had the device, and nobody after it.
                if (pod.matches(interval.holding().holder(), Instant.MIN)) {
                    open.remove(interval.slot());
                }
            } else if (pod.matches(interval.holding().holder(), interval.from())) {
                close(interval, pod.finishedAt(), false, IntervalEndReason.POD_FINISHED);
            }
        }
        closed.applyFinish(pod);
    }

    private void trustChanged(LedgerFact.TrustChanged fact) {
        Map<String, Instant> untrusted = devices.untrusted();
        untrusted.keySet().retainAll(fact.untrustedSince().keySet());
        fact.untrustedSince().forEach(untrusted::putIfAbsent);
        Map<String, Instant> distrust = new TreeMap<>(untrusted);
        distrust.replaceAll((_, at) -> clock.at(at));
        devices.untrusted(distrust, clock.at(fact.appendedAt()));
        Instant regained = clock.at(fact.appendedAt());
        for (OpenUsageInterval interval : List.copyOf(open.values())) {
            if (untrustedSince(interval.slot()).isPresent()) {
                splitWhileUntrusted(interval.slot(), Instant.MAX);
            } else if (interval.quality() == IntervalQuality.ALLOCATED_WHILE_FAULTY) {
                split(interval, max(regained, interval.from()), IntervalQuality.ALLOCATED);
            }
        }
        untrusted.forEach((gpu, since) -> closed.splitUntrusted(slot -> isOf(slot, gpu), clock.at(since)));
    }

    /** Since when the device or the whole node is not trusted; empty while both are. */
    private Optional<Instant> untrustedSince(DeviceSlot slot) {
        return devices.untrusted().entrySet().stream()
                .filter(device -> isOf(slot, device.getKey()))
                .map(Map.Entry::getValue)
                .min(Comparator.naturalOrder());
    }

    private boolean isOf(DeviceSlot slot, String gpu) {
        return gpu.equals(LedgerFact.TrustChanged.EVERY_DEVICE) || gpuOf(slot).equals(gpu);
    }

    /** Splits an open interval at the time since which its device is not trusted, unless it ends before that. */
    private void splitWhileUntrusted(DeviceSlot slot, Instant limit) {
        OpenUsageInterval interval = open.get(slot);
        Optional<Instant> since = untrustedSince(slot);
        if (interval == null || since.isEmpty() || interval.quality() != IntervalQuality.ALLOCATED) {
            return;
        }
        Instant splitAt = clock.at(since.get());
        if (!splitAt.isAfter(interval.from())) {
            open.put(slot, interval.withQuality(IntervalQuality.ALLOCATED_WHILE_FAULTY));
        } else if (splitAt.isBefore(limit)) {
            split(interval, splitAt, IntervalQuality.ALLOCATED_WHILE_FAULTY);
        }
    }

    private void split(OpenUsageInterval interval, Instant at, IntervalQuality next) {
        closed.add(interval.close(at, false, IntervalEndReason.TRUST_CHANGED));
        open.put(interval.slot(), interval.continuedFrom(at, next));
    }

    private void newBoot(String id, Instant at) {
        if (!bootId.isEmpty() && !bootId.equals(id)) {
            closeAll(at, IntervalEndReason.NODE_REBOOTED);
            closed.settleNodeLoss(IntervalEndReason.NODE_REBOOTED);
        }
        bootId = id;
    }

    private void closeAll(Instant end, IntervalEndReason reason) {
        List.copyOf(open.values()).forEach(interval -> close(interval, end, true, reason));
        pending.clear();
    }

    private void close(OpenUsageInterval interval, Instant end, boolean estimated, IntervalEndReason reason) {
        open.remove(interval.slot());
        if (end.isBefore(interval.from()) && interval.quality() != IntervalQuality.UNREACHABLE) {
            closed.addEndedBeforeStart(interval, end, estimated, reason);
        } else {
            closed.add(interval.close(end, estimated, reason));
        }
    }

    /** One holder for each slot: a running pod before a finished one, and after a new Allocate the new holder. */
    private Map<DeviceSlot, Holding> held(LedgerFact.HoldingsSnapshot fact) {
        Map<DeviceSlot, Holding> held = new TreeMap<>();
        fact.holdings().stream()
                .sorted(Comparator.comparingInt((Holding holding) -> rank(holding, fact))
                        .thenComparing(holding -> holding.holder().namespace())
                        .thenComparing(holding -> holding.holder().pod())
                        .thenComparing(holding -> holding.holder().container()))
                .forEach(holding -> held.putIfAbsent(holding.device().slot(), holding));
        return held;
    }

    private int rank(Holding holding, LedgerFact.HoldingsSnapshot fact) {
        OpenUsageInterval known = open.get(holding.device().slot());
        if (known == null) {
            return closed.finishOf(holding.holder(), startOf(holding, fact)).isPresent() ? 2 : 1;
        }
        boolean sameContainer = known.holding().holder().maybeSameContainer(holding.holder());
        if (closed.finishOf(holding.holder(), sameContainer ? known.from() : startOf(holding, fact))
                .isPresent()) {
            return 2;
        }
        boolean allocatedAgain = allocatedAt(holding.device().id(), fact)
                .filter(at -> at.isAfter(closed.heldSince(known)))
                .isPresent();
        return sameContainer == allocatedAgain ? 1 : 0;
    }

    private Instant startOf(Holding holding, LedgerFact.HoldingsSnapshot fact) {
        return allocatedAt(holding.device().id(), fact).orElse(fact.at());
    }

    /** Time of the last Allocate of a device, if the snapshot was taken soon enough after it to show its holder. */
    private Optional<Instant> allocatedAt(String deviceId, LedgerFact.HoldingsSnapshot fact) {
        return pending.stream()
                .filter(allocate -> allocate.deviceIds().contains(deviceId))
                .map(PendingAllocate::at)
                .filter(at -> !at.isAfter(fact.at()))
                .filter(at -> !at.plus(BIND_TIMEOUT).isBefore(fact.at()))
                .max(Comparator.naturalOrder());
    }

    private void removePending(String deviceId) {
        pending.replaceAll(allocate -> new PendingAllocate(
                allocate.deviceIds().stream().filter(id -> !id.equals(deviceId)).toList(),
                allocate.resource(),
                allocate.at(),
                allocate.appendedAt(),
                allocate.eventSequence()));
        pending.removeIf(allocate -> allocate.deviceIds().isEmpty());
    }

    private void forgetPending(Instant now) {
        pending.removeIf(allocate -> allocate.at().plus(BIND_TIMEOUT).isBefore(now));
        while (pending.size() > MAX_PENDING) {
            pending.removeFirst();
        }
    }

    private String gpuOf(DeviceSlot slot) {
        return devices.gpuOf(gpus.gpuOf(slot.deviceUuid()));
    }

    private static Instant max(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }
}
