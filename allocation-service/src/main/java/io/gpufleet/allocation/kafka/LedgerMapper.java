package io.gpufleet.allocation.kafka;

import com.google.protobuf.Timestamp;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import io.gpufleet.allocation.model.holding.PodLabels;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.ClosedUsage;
import io.gpufleet.allocation.model.ledger.ClosedUsageInterval;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.FinishedPod;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.IntervalEndReason;
import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.ledger.NodeClock;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.allocation.model.ledger.PendingAllocate;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.proto.allocation.v1.HolderPod;
import io.gpufleet.proto.allocation.v1.NodeGpuModel;
import io.gpufleet.proto.allocation.v1.NodeGpuOffer;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.PendingAllocation;
import io.gpufleet.proto.allocation.v1.UntrustedDevice;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Maps node ledgers and usage entries to messages, and the messages of node ledgers back: to an equal state, in which equal
 * names take memory once.
 */
final class LedgerMapper {
    private LedgerMapper() {}

    static NodeHoldings state(NodeLedger ledger) {
        var state = NodeHoldings.newBuilder()
                .setBootId(ledger.bootId())
                .setLastSnapshot(time(ledger.clock().lastSnapshot()))
                .setClockAheadMs(ledger.clock().aheadMillis())
                .setHeardAt(time(ledger.clock().heardAt()))
                .putAllMigParents(ledger.gpus().migParents());
        ledger.open().values().forEach(open -> state.addOpen(open(open)));
        ledger.pending().forEach(pending -> state.addPending(pending(pending)));
        ledger.untrusted()
                .forEach((uuid, since) -> state.addUntrusted(
                        UntrustedDevice.newBuilder().setDeviceUuid(uuid).setSince(time(since))));
        ledger.gpus()
                .models()
                .forEach(model -> state.addModels(NodeGpuModel.newBuilder()
                        .setModel(model.model())
                        .setShortModel(model.shortModel())
                        .setGpus(model.gpus())
                        .addAllUuids(model.uuids())));
        ledger.gpus()
                .offers()
                .forEach(offer -> state.addOffers(NodeGpuOffer.newBuilder()
                        .setResource(offer.resource())
                        .setShortModel(offer.shortModel())
                        .setMigProfile(offer.migProfile())
                        .setReplicas(offer.replicas())));
        ledger.closed().intervals().forEach(closed -> {
            state.addClosed(closed(closed));
            if (closed.adjustments() > 0) {
                state.putAdjustments(closed.id(), closed.adjustments());
            }
        });
        ledger.closed()
                .finishedPods()
                .forEach(pod -> state.addEnded(io.gpufleet.proto.allocation.v1.EndedPod.newBuilder()
                        .setNamespace(pod.namespace())
                        .setPod(pod.pod())
                        .setPodUid(pod.podUid())
                        .setFinishedAt(time(pod.finishedAt()))));
        ledger.closed().knownPods().forEach(pod -> state.addPods(known(pod)));
        DeviceTimeMapper.write(ledger.devices(), ledger.gpus().migParents(), state);
        Instant goneSince = ledger.goneSince();
        if (goneSince != null) {
            state.setGoneSince(time(goneSince));
        }
        return state.build();
    }

    static NodeLedger ledger(NodeHoldings state, Interner<String> texts) {
        Map<DeviceSlot, OpenUsageInterval> open = new TreeMap<>();
        state.getOpenList().forEach(message -> {
            UsageInterval interval = message.getInterval();
            Holding holding = holding(interval, texts);
            open.put(
                    holding.device().slot(),
                    new OpenUsageInterval(
                            interval.getIntervalId(),
                            holding,
                            time(interval.getFrom()),
                            quality(interval.getQuality()),
                            time(message.getOpenedAt())));
        });
        return new NodeLedger(
                state.getBootId(),
                open,
                state.getPendingList().stream().map(LedgerMapper::pending).toList(),
                DeviceTimeMapper.read(
                        state,
                        state.getUntrustedList().stream()
                                .collect(Collectors.toMap(
                                        UntrustedDevice::getDeviceUuid,
                                        device -> time(device.getSince()),
                                        (one, two) -> one))),
                new NodeClock(time(state.getLastSnapshot()), state.getClockAheadMs(), time(state.getHeardAt())),
                new ClosedUsage(
                        state.getClosedList().stream()
                                .map(closed ->
                                        closed(closed, state.getAdjustmentsOrDefault(closed.getIntervalId(), 0), texts))
                                .toList(),
                        state.getEndedList().stream()
                                .map(pod -> new FinishedPod(
                                        texts.intern(pod.getNamespace()),
                                        texts.intern(pod.getPod()),
                                        texts.intern(pod.getPodUid()),
                                        time(pod.getFinishedAt())))
                                .toList(),
                        state.getPodsList().stream()
                                .map(pod -> known(pod, texts))
                                .toList()),
                new AnnouncedGpus(
                        state.getModelsList().stream()
                                .map(model -> new GpuModel(
                                        model.getModel(), model.getShortModel(), model.getGpus(), model.getUuidsList()))
                                .toList(),
                        state.getOffersList().stream()
                                .map(offer -> new AnnouncedGpus.Offer(
                                        offer.getResource(),
                                        offer.getShortModel(),
                                        offer.getMigProfile(),
                                        offer.getReplicas()))
                                .collect(Collectors.toCollection(TreeSet::new)),
                        state.getMigParentsMap()),
                state.hasGoneSince() ? time(state.getGoneSince()) : null);
    }

    /** The entry with its node, and with what the ledger knows of its pod and GPU. */
    static UsageInterval usage(String node, NodeLedger ledger, UsageEntry entry) {
        UsageAttributes attributes = ledger.attributesOf(entry.holding());
        return usage(entry).toBuilder()
                .setNode(node)
                .setProduct(attributes.product())
                .setOwner(attributes.owner())
                .putAllLabels(attributes.labels())
                .setReducesIdle(ledger.reducesIdle(entry))
                .build();
    }

    private static HolderPod known(KnownPod pod) {
        return HolderPod.newBuilder()
                .setNamespace(pod.namespace())
                .setPod(pod.pod())
                .setPodUid(pod.podUid())
                .setOwner(pod.owner())
                .putAllLabels(pod.labels())
                .setSeenAt(time(pod.seenAt()))
                .build();
    }

    private static KnownPod known(HolderPod message, Interner<String> texts) {
        return new KnownPod(
                texts.intern(message.getNamespace()),
                texts.intern(message.getPod()),
                texts.intern(message.getPodUid()),
                texts.intern(message.getOwner()),
                PodLabels.bounded(message.getLabelsMap()),
                time(message.getSeenAt()));
    }

    private static UsageInterval usage(UsageEntry entry) {
        return switch (entry) {
            case UsageEntry.Closed(ClosedUsageInterval interval) -> closed(interval);
            case UsageEntry.Adjusted adjusted ->
                intervalOf(adjusted.holding())
                        .setIntervalId(adjusted.id())
                        .setFrom(time(adjusted.from()))
                        .setTo(time(adjusted.to()))
                        .setGpuMilliseconds(adjusted.gpuMillis())
                        .setQuality(quality(adjusted.quality()))
                        .setReason(adjusted.reason().wireName())
                        .build();
        };
    }

    private static io.gpufleet.proto.allocation.v1.OpenInterval open(OpenUsageInterval open) {
        return io.gpufleet.proto.allocation.v1.OpenInterval.newBuilder()
                .setInterval(intervalOf(open.holding())
                        .setIntervalId(open.id())
                        .setFrom(time(open.from()))
                        .setQuality(quality(open.quality())))
                .setOpenedAt(time(open.openedAt()))
                .build();
    }

    private static UsageInterval closed(ClosedUsageInterval closed) {
        return intervalOf(closed.holding())
                .setIntervalId(closed.id())
                .setFrom(time(closed.from()))
                .setTo(time(closed.to()))
                .setGpuMilliseconds(closed.gpuMillis())
                .setQuality(quality(closed.quality()))
                .setEndEstimated(closed.endEstimated())
                .setReason(closed.reason().wireName())
                .build();
    }

    private static ClosedUsageInterval closed(UsageInterval message, int adjustments, Interner<String> texts) {
        return new ClosedUsageInterval(
                message.getIntervalId(),
                holding(message, texts),
                time(message.getFrom()),
                time(message.getTo()),
                quality(message.getQuality()),
                message.getEndEstimated(),
                IntervalEndReason.of(message.getReason()),
                adjustments);
    }

    private static UsageInterval.Builder intervalOf(Holding holding) {
        Holder holder = holding.holder();
        HeldDevice device = holding.device();
        boolean whole = device.migProfile().isEmpty();
        return UsageInterval.newBuilder()
                .setSlices(whole ? 0 : device.fraction().numerator())
                .setSlicesOf(whole ? 0 : device.fraction().denominator() / device.shareOf())
                .setDeviceUuid(device.slot().deviceUuid())
                .setReplica(device.slot().replica())
                .setDeviceId(device.id())
                .setShareOf(device.shareOf())
                .setShortModel(device.shortModel())
                .setMigProfile(device.migProfile())
                .setResource(holder.resource())
                .setNamespace(holder.namespace())
                .setPod(holder.pod())
                .setPodUid(holder.podUid())
                .setContainer(holder.container());
    }

    static Holding holding(UsageInterval message, Interner<String> texts) {
        return new Holding(
                new Holder(
                        texts.intern(message.getNamespace()),
                        texts.intern(message.getPod()),
                        texts.intern(message.getPodUid()),
                        texts.intern(message.getContainer()),
                        texts.intern(message.getResource())),
                new HeldDevice(
                        texts.intern(message.getDeviceId()),
                        new DeviceSlot(texts.intern(message.getDeviceUuid()), message.getReplica()),
                        texts.intern(message.getShortModel()),
                        message.getShareOf(),
                        texts.intern(message.getMigProfile())));
    }

    private static PendingAllocation pending(PendingAllocate pending) {
        return PendingAllocation.newBuilder()
                .addAllDeviceIds(pending.deviceIds())
                .setResource(pending.resource())
                .setAt(time(pending.at()))
                .setAppendedAt(time(pending.appendedAt()))
                .setEpoch(pending.eventSequence().epoch())
                .setSequence(pending.eventSequence().sequence())
                .build();
    }

    private static PendingAllocate pending(PendingAllocation message) {
        return new PendingAllocate(
                message.getDeviceIdsList(),
                message.getResource(),
                time(message.getAt()),
                time(message.getAppendedAt()),
                new EventSequence(message.getEpoch(), message.getSequence()));
    }

    private static UsageQuality quality(IntervalQuality quality) {
        return switch (quality) {
            case ALLOCATED -> UsageQuality.USAGE_QUALITY_ALLOCATED;
            case ALLOCATED_WHILE_FAULTY -> UsageQuality.USAGE_QUALITY_ALLOCATED_WHILE_FAULTY;
            case UNREACHABLE -> UsageQuality.USAGE_QUALITY_UNREACHABLE;
        };
    }

    private static IntervalQuality quality(UsageQuality quality) {
        return switch (quality) {
            case USAGE_QUALITY_ALLOCATED_WHILE_FAULTY -> IntervalQuality.ALLOCATED_WHILE_FAULTY;
            case USAGE_QUALITY_UNREACHABLE -> IntervalQuality.UNREACHABLE;
            case USAGE_QUALITY_ALLOCATED,
                    USAGE_QUALITY_UNSPECIFIED,
                    USAGE_QUALITY_IDLE,
                    USAGE_QUALITY_QUARANTINED,
                    USAGE_QUALITY_UNACCOUNTED,
                    UNRECOGNIZED -> IntervalQuality.ALLOCATED;
        };
    }

    static Timestamp time(Instant instant) {
        return Timestamp.newBuilder()
                .setSeconds(instant.getEpochSecond())
                .setNanos(instant.getNano())
                .build();
    }

    static Instant time(Timestamp timestamp) {
        return Instant.ofEpochSecond(timestamp.getSeconds(), timestamp.getNanos());
    }
}
