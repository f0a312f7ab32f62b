package io.gpufleet.allocation.model.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The sheet on which one fact is folded: a copy of the state that may be written on, then read off. */
final class LedgerSheet {
    private static final Duration BOUND_WITHIN = Duration.ofSeconds(60);
    private static final int MAX_PENDING = 128;

    private final String cluster;
    private final String node;
    private String bootId;
    private final TreeMap<DeviceSlot, OpenInterval> open;
    private final List<Pending> pending;
    private Instant lastSnapshot;
    private final Map<String, Instant> untrusted;
    private final ClosedMemory closed;
    private List<GpuModel> models;
    private Map<String, String> migParents;
    private long clockAheadMillis;

    LedgerSheet(String cluster, String node, NodeLedger before) {
        this.cluster = cluster;
        this.node = node;
        this.bootId = before.bootId();
        this.open = new TreeMap<>(before.open());
        this.pending = new ArrayList<>(before.pending());
        this.lastSnapshot = before.lastSnapshot();
        this.untrusted = new TreeMap<>(before.untrusted());
        this.closed = new ClosedMemory(before.closed(), before.ended());
        this.models = before.models();
        this.migParents = before.migParents();
        this.clockAheadMillis = before.clockAheadMillis();
    }

    LedgerStep fold(LedgerFact fact) {
        switch (fact) {
            case LedgerFact.Allocated allocated -> allocated(allocated);
            case LedgerFact.Snapshot snapshot -> snapshot(snapshot);
            case LedgerFact.PodEnded(EndedPod pod) -> podEnded(pod);
            case LedgerFact.TrustChanged trust -> trustChanged(trust);
            case LedgerFact.GpusAnnounced(List<GpuModel> announced, Map<String, String> parents) -> {
                models = announced;
                migParents = parents;
            }
            case LedgerFact.MachineGone(Instant appendedAt, EndReason reason) ->
                closeAll(onNodeClock(appendedAt), reason);
        }
        var next = new NodeLedger(
                bootId,
                open,
                pending,
                lastSnapshot,
                untrusted,
                closed.intervals(),
                closed.endedPods(),
                models,
                migParents,
                clockAheadMillis);
        return new LedgerStep(next, closed.published());
    }

    private void allocated(LedgerFact.Allocated fact) {
        newBoot(fact.bootId(), fact.at());
        pending.add(new Pending(fact.deviceIds(), fact.resource(), fact.at(), fact.appendedAt(), fact.stamp()));
        forgetPending(fact.at());
        closed.forgetBefore(fact.at());
    }

    private void snapshot(LedgerFact.Snapshot fact) {
        newBoot(fact.bootId(), fact.at());
        clockAheadMillis = fact.clockAheadMillis();
        Map<DeviceSlot, Holding> held = held(fact);
        Map<DeviceSlot, Instant> cuts = new HashMap<>();
        for (OpenInterval interval : List.copyOf(open.values())) {
            compare(interval, Optional.ofNullable(held.get(interval.slot())), fact)
                    .ifPresent(end -> cuts.put(interval.slot(), end));
        }
        held.forEach((slot, holding) -> {
            if (!open.containsKey(slot)) {
                open(holding, fact, cuts.getOrDefault(slot, Instant.MIN));
            }
            bound(holding.device().id());
        });
        lastSnapshot = fact.at();
        forgetPending(fact.at());
        closed.forgetBefore(fact.at());
        if (fact.complete()) {
            closed.forgetEndedPods(fact.at(), fact.holdings());
        }
    }

    /** Ends the interval where the snapshot says that it is over, and tells when. */
    private Optional<Instant> compare(OpenInterval interval, Optional<Holding> now, LedgerFact.Snapshot fact) {
        Holder before = interval.holding().holder();
        if (now.isEmpty()) {
            return fact.complete() ? Optional.of(released(interval, fact, EndReason.RELEASED)) : Optional.empty();
        }
        Holding holding = now.get();
        if (!before.maybeSame(holding.holder())) {
            boolean renamed = before.namespace().equals(holding.holder().namespace())
                    && before.pod().equals(holding.holder().pod())
                    && Holder.uidsDiffer(before.podUid(), holding.holder().podUid());
            return Optional.of(released(interval, fact, renamed ? EndReason.UID_CHANGED : EndReason.RELEASED));
        }
        if (!interval.holding().device().pricedAs(holding.device())) {
            close(interval, fact.at(), false, EndReason.DEVICE_CHANGED);
            return Optional.of(fact.at());
        }
        open.put(interval.slot(), interval.learning(holding.holder().podUid()));
        return Optional.empty();
    }

    /** A device that was handed out again was free by then; else the snapshot is the first word of it. */
    private Instant released(OpenInterval interval, LedgerFact.Snapshot fact, EndReason reason) {
        Instant end = allocatedAt(interval.holding().device().id(), fact)
                .filter(at -> at.isAfter(closed.heldSince(interval)))
                .orElse(fact.at());
        close(interval, end, true, reason);
        return end;
    }

    private void open(Holding holding, LedgerFact.Snapshot fact, Instant notBefore) {
        Instant start = max(startOf(holding, fact), notBefore);
        Instant from = closed.cutOffByLoss(holding).orElse(start);
        Optional<EndedPod> end = closed.endOf(holding.holder(), from);
        if (end.isPresent() && (!end.get().finishedAt().isAfter(from) || closed.knows(holding, end.get()))) {
            return;
        }
        String id = IntervalId.opened(cluster, node, holding, fact.stamp());
        open.put(holding.device().slot(), new OpenInterval(id, holding, from, Quality.ALLOCATED, fact.appendedAt()));
        DeviceSlot slot = holding.device().slot();
        cutByDistrust(slot, end.map(EndedPod::finishedAt).orElse(Instant.MAX));
        end.ifPresent(pod -> closeSlot(slot, pod.finishedAt()));
    }

    private void closeSlot(DeviceSlot slot, Instant finishedAt) {
        OpenInterval interval = open.get(slot);
        if (interval != null) {
            close(interval, finishedAt, false, EndReason.POD_FINISHED);
        }
    }

    private void podEnded(EndedPod pod) {
        closed.ended(pod);
        for (OpenInterval interval : List.copyOf(open.values())) {
            if (pod.covers(interval.holding().holder(), interval.from())) {
                close(interval, pod.finishedAt(), false, EndReason.POD_FINISHED);
            }
        }
        closed.settle(pod);
    }

    private void trustChanged(LedgerFact.TrustChanged fact) {
        untrusted.keySet().retainAll(fact.untrustedSince().keySet());
        fact.untrustedSince().forEach(untrusted::putIfAbsent);
        Instant regained = onNodeClock(fact.appendedAt());
        for (OpenInterval interval : List.copyOf(open.values())) {
            if (untrusted.containsKey(gpuOf(interval.slot()))) {
                cutByDistrust(interval.slot(), Instant.MAX);
            } else if (interval.quality() == Quality.ALLOCATED_WHILE_FAULTY) {
                cut(interval, max(regained, interval.from()), Quality.ALLOCATED);
            }
        }
        untrusted.forEach((gpu, since) -> closed.distrust(slot -> gpuOf(slot).equals(gpu), onNodeClock(since)));
    }

    /** From when its device is not trusted, an interval counts otherwise; what ends before the limit is not cut. */
    private void cutByDistrust(DeviceSlot slot, Instant limit) {
        OpenInterval interval = open.get(slot);
        Instant since = untrusted.get(gpuOf(slot));
        if (interval == null || since == null || interval.quality() == Quality.ALLOCATED_WHILE_FAULTY) {
            return;
        }
        Instant cut = onNodeClock(since);
        if (!cut.isAfter(interval.from())) {
            open.put(slot, interval.counting(Quality.ALLOCATED_WHILE_FAULTY));
        } else if (cut.isBefore(limit)) {
            cut(interval, cut, Quality.ALLOCATED_WHILE_FAULTY);
        }
    }

    private void cut(OpenInterval interval, Instant at, Quality next) {
        closed.add(interval.ended(at, false, EndReason.TRUST_CHANGED));
        open.put(interval.slot(), interval.after(at, next));
    }

    private void newBoot(String heard, Instant at) {
        if (!bootId.isEmpty() && !bootId.equals(heard)) {
            closeAll(at, EndReason.NODE_REBOOTED);
        }
        bootId = heard;
    }

    private void closeAll(Instant end, EndReason reason) {
        List.copyOf(open.values()).forEach(interval -> close(interval, end, true, reason));
        pending.clear();
    }

    private void close(OpenInterval interval, Instant end, boolean estimated, EndReason reason) {
        open.remove(interval.slot());
        if (end.isBefore(interval.from())) {
            closed.addReturned(interval, end, estimated, reason);
        } else {
            closed.add(interval.ended(end, estimated, reason));
        }
    }

    /** One holder for each slot: a live one before one that is over, and after a new Allocate the new one. */
    private Map<DeviceSlot, Holding> held(LedgerFact.Snapshot fact) {
        Map<DeviceSlot, Holding> held = new TreeMap<>();
        fact.holdings().stream()
                .sorted(Comparator.comparingInt((Holding holding) -> rank(holding, fact))
                        .thenComparing(holding -> holding.holder().namespace())
                        .thenComparing(holding -> holding.holder().pod())
                        .thenComparing(holding -> holding.holder().container()))
                .forEach(holding -> held.putIfAbsent(holding.device().slot(), holding));
        return held;
    }

    private int rank(Holding holding, LedgerFact.Snapshot fact) {
        OpenInterval incumbent = open.get(holding.device().slot());
        if (incumbent == null) {
            return closed.endOf(holding.holder(), startOf(holding, fact)).isPresent() ? 2 : 1;
        }
        boolean itself = incumbent.holding().holder().maybeSame(holding.holder());
        if (closed.endOf(holding.holder(), itself ? incumbent.from() : startOf(holding, fact))
                .isPresent()) {
            return 2;
        }
        boolean handedOutAgain = allocatedAt(holding.device().id(), fact)
                .filter(at -> at.isAfter(closed.heldSince(incumbent)))
                .isPresent();
        return itself == handedOutAgain ? 1 : 0;
    }

    private Instant startOf(Holding holding, LedgerFact.Snapshot fact) {
        return allocatedAt(holding.device().id(), fact).orElse(fact.at());
    }

    /** When the device was last handed out, if the snapshot is near enough to say that it went to a holder. */
    private Optional<Instant> allocatedAt(String deviceId, LedgerFact.Snapshot fact) {
        return pending.stream()
                .filter(answer -> answer.deviceIds().contains(deviceId))
                .map(Pending::at)
                .filter(at -> !at.isAfter(fact.at()))
                .filter(at -> !at.plus(BOUND_WITHIN).isBefore(fact.at()))
                .max(Comparator.naturalOrder());
    }

    private void bound(String deviceId) {
        pending.replaceAll(answer -> new Pending(
                answer.deviceIds().stream().filter(id -> !id.equals(deviceId)).toList(),
                answer.resource(),
                answer.at(),
                answer.appendedAt(),
                answer.stamp()));
        pending.removeIf(answer -> answer.deviceIds().isEmpty());
    }

    private void forgetPending(Instant now) {
        pending.removeIf(answer -> answer.at().plus(BOUND_WITHIN).isBefore(now));
        while (pending.size() > MAX_PENDING) {
            pending.removeFirst();
        }
    }

    private String gpuOf(DeviceSlot slot) {
        return migParents.getOrDefault(slot.deviceUuid(), slot.deviceUuid());
    }

    private Instant onNodeClock(Instant appendTime) {
        return appendTime.plusMillis(clockAheadMillis);
    }

    private static Instant max(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }
}
