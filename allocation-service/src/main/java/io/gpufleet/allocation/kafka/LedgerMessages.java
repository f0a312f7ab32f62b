package io.gpufleet.allocation.kafka;

import com.google.protobuf.Timestamp;
import io.gpufleet.allocation.model.ledger.ClosedInterval;
import io.gpufleet.allocation.model.ledger.DeviceSlot;
import io.gpufleet.allocation.model.ledger.EndReason;
import io.gpufleet.allocation.model.ledger.EndedPod;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.HeldDevice;
import io.gpufleet.allocation.model.ledger.Holder;
import io.gpufleet.allocation.model.ledger.Holding;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenInterval;
import io.gpufleet.allocation.model.ledger.Pending;
import io.gpufleet.allocation.model.ledger.Quality;
import io.gpufleet.allocation.model.ledger.Stamp;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.proto.allocation.v1.NodeGpuModel;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.PendingAllocation;
import io.gpufleet.proto.allocation.v1.UntrustedDevice;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The ledger's state and words, to the wire and back; what was written is read as the same state. */
final class LedgerMessages {
    private LedgerMessages() {}

    static NodeHoldings state(NodeLedger ledger) {
        var state = NodeHoldings.newBuilder()
                .setBootId(ledger.bootId())
                .setLastSnapshot(time(ledger.lastSnapshot()))
                .setClockAheadMs(ledger.clockAheadMillis())
                .putAllMigParents(ledger.migParents());
        ledger.open().values().forEach(open -> state.addOpen(open(open)));
        ledger.pending().forEach(pending -> state.addPending(pending(pending)));
        ledger.untrusted()
                .forEach((uuid, since) -> state.addUntrusted(
                        UntrustedDevice.newBuilder().setDeviceUuid(uuid).setSince(time(since))));
        ledger.models()
                .forEach(model -> state.addModels(NodeGpuModel.newBuilder()
                        .setModel(model.model())
                        .setShortModel(model.shortModel())
                        .setGpus(model.gpus())));
        ledger.closed().forEach(closed -> {
            state.addClosed(closed(closed));
            if (closed.adjustments() > 0) {
                state.putAdjustments(closed.id(), closed.adjustments());
            }
        });
        ledger.ended()
                .forEach(pod -> state.addEnded(io.gpufleet.proto.allocation.v1.EndedPod.newBuilder()
                        .setNamespace(pod.namespace())
                        .setPod(pod.pod())
                        .setPodUid(pod.podUid())
                        .setFinishedAt(time(pod.finishedAt()))));
        return state.build();
    }

    static NodeLedger ledger(NodeHoldings state) {
        Map<DeviceSlot, OpenInterval> open = new TreeMap<>();
        state.getOpenList().forEach(message -> {
            UsageInterval interval = message.getInterval();
            Holding holding = holding(interval);
            open.put(
                    holding.device().slot(),
                    new OpenInterval(
                            interval.getIntervalId(),
                            holding,
                            time(interval.getFrom()),
                            quality(interval.getQuality()),
                            time(message.getOpenedAt())));
        });
        return new NodeLedger(
                state.getBootId(),
                open,
                state.getPendingList().stream().map(LedgerMessages::pending).toList(),
                time(state.getLastSnapshot()),
                state.getUntrustedList().stream()
                        .collect(Collectors.toMap(
                                UntrustedDevice::getDeviceUuid, device -> time(device.getSince()), (one, two) -> one)),
                state.getClosedList().stream()
                        .map(closed -> closed(closed, state.getAdjustmentsOrDefault(closed.getIntervalId(), 0)))
                        .toList(),
                state.getEndedList().stream()
                        .map(pod -> new EndedPod(
                                pod.getNamespace(), pod.getPod(), pod.getPodUid(), time(pod.getFinishedAt())))
                        .toList(),
                state.getModelsList().stream()
                        .map(model -> new GpuModel(model.getModel(), model.getShortModel(), model.getGpus()))
                        .toList(),
                state.getMigParentsMap(),
                state.getClockAheadMs());
    }

    static UsageInterval usage(UsageEntry entry) {
        return switch (entry) {
            case UsageEntry.Closed(ClosedInterval interval) -> closed(interval);
            case UsageEntry.Adjusted adjusted ->
                about(adjusted.holding())
                        .setIntervalId(adjusted.id())
                        .setFrom(time(adjusted.from()))
                        .setTo(time(adjusted.to()))
                        .setGpuMilliseconds(adjusted.gpuMillis())
                        .setQuality(quality(adjusted.quality()))
                        .setReason(adjusted.reason().word())
                        .build();
        };
    }

    private static io.gpufleet.proto.allocation.v1.OpenInterval open(OpenInterval open) {
        return io.gpufleet.proto.allocation.v1.OpenInterval.newBuilder()
                .setInterval(about(open.holding())
                        .setIntervalId(open.id())
                        .setFrom(time(open.from()))
                        .setQuality(quality(open.quality())))
                .setOpenedAt(time(open.openedAt()))
                .build();
    }

    private static UsageInterval closed(ClosedInterval closed) {
        return about(closed.holding())
                .setIntervalId(closed.id())
                .setFrom(time(closed.from()))
                .setTo(time(closed.to()))
                .setGpuMilliseconds(closed.gpuMillis())
                .setQuality(quality(closed.quality()))
                .setEndEstimated(closed.estimated())
                .setReason(closed.reason().word())
                .build();
    }

    private static ClosedInterval closed(UsageInterval message, int adjustments) {
        return new ClosedInterval(
                message.getIntervalId(),
                holding(message),
                time(message.getFrom()),
                time(message.getTo()),
                quality(message.getQuality()),
                message.getEndEstimated(),
                EndReason.of(message.getReason()),
                adjustments);
    }

    private static UsageInterval.Builder about(Holding holding) {
        Holder holder = holding.holder();
        HeldDevice device = holding.device();
        return UsageInterval.newBuilder()
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

    private static Holding holding(UsageInterval message) {
        return new Holding(
                new Holder(
                        message.getNamespace(),
                        message.getPod(),
                        message.getPodUid(),
                        message.getContainer(),
                        message.getResource()),
                new HeldDevice(
                        message.getDeviceId(),
                        new DeviceSlot(message.getDeviceUuid(), message.getReplica()),
                        message.getShortModel(),
                        message.getShareOf(),
                        message.getMigProfile()));
    }

    private static PendingAllocation pending(Pending pending) {
        return PendingAllocation.newBuilder()
                .addAllDeviceIds(pending.deviceIds())
                .setResource(pending.resource())
                .setAt(time(pending.at()))
                .setAppendedAt(time(pending.appendedAt()))
                .setEpoch(pending.stamp().epoch())
                .setSequence(pending.stamp().sequence())
                .build();
    }

    private static Pending pending(PendingAllocation message) {
        return new Pending(
                message.getDeviceIdsList(),
                message.getResource(),
                time(message.getAt()),
                time(message.getAppendedAt()),
                new Stamp(message.getEpoch(), message.getSequence()));
    }

    private static UsageQuality quality(Quality quality) {
        return switch (quality) {
            case ALLOCATED -> UsageQuality.USAGE_QUALITY_ALLOCATED;
            case ALLOCATED_WHILE_FAULTY -> UsageQuality.USAGE_QUALITY_ALLOCATED_WHILE_FAULTY;
        };
    }

    private static Quality quality(UsageQuality quality) {
        return quality == UsageQuality.USAGE_QUALITY_ALLOCATED_WHILE_FAULTY
                ? Quality.ALLOCATED_WHILE_FAULTY
                : Quality.ALLOCATED;
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
