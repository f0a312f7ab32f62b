package io.gpufleet.health.kafka;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HeldBack;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.health.v1.DrainState;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.PodHolder;
import io.gpufleet.proto.signal.v1.DrainPhase;
import io.gpufleet.proto.signal.v1.DrainReported;
import java.time.Instant;
import java.util.SequencedMap;

/** Maps drains and holders of devices: facts to signals, and their part of the changelog record. */
final class DrainMapper {
    /** More jobs than pods fit on a node. */
    private static final int MAX_JOBS = 64;

    private DrainMapper() {}

    static Holdings holdings(DevicesHeld held) {
        return new Holdings(
                held.getComplete(),
                held.getHoldersList().stream()
                        .map(holder -> new Holdings.Holder(
                                new PodName(
                                        TextLimits.name(holder.getNamespace()),
                                        TextLimits.name(holder.getPod()),
                                        TextLimits.name(holder.getPodUid())),
                                holder.getDevicesList().stream()
                                        .map(HeldDevice::getDeviceUuid)
                                        .map(TextLimits::name)
                                        .toList()))
                        .toList());
    }

    static HealthSignal reported(EventMetadata metadata, DrainReported report) {
        return new HealthSignal.DrainReported(
                metadata,
                TextLimits.name(report.getNodeUid()),
                phase(report.getPhase()),
                report.getJobsList().stream()
                        .limit(MAX_JOBS)
                        .map(TextLimits::text)
                        .toList(),
                TextLimits.text(report.getMessage()));
    }

    static DrainPhase toWire(DrainProgress.Phase phase) {
        return switch (phase) {
            case NONE -> DrainPhase.DRAIN_PHASE_UNSPECIFIED;
            case WAITING -> DrainPhase.DRAIN_PHASE_WAITING;
            case ACTIVE -> DrainPhase.DRAIN_PHASE_ACTIVE;
            case DRAINED -> DrainPhase.DRAIN_PHASE_DRAINED;
            case STOPPED -> DrainPhase.DRAIN_PHASE_STOPPED;
        };
    }

    private static DrainProgress.Phase phase(DrainPhase wire) {
        return switch (wire) {
            case DRAIN_PHASE_UNSPECIFIED, UNRECOGNIZED -> DrainProgress.Phase.NONE;
            case DRAIN_PHASE_WAITING -> DrainProgress.Phase.WAITING;
            case DRAIN_PHASE_ACTIVE -> DrainProgress.Phase.ACTIVE;
            case DRAIN_PHASE_DRAINED -> DrainProgress.Phase.DRAINED;
            case DRAIN_PHASE_STOPPED -> DrainProgress.Phase.STOPPED;
        };
    }

    static void write(NodeState state, NodeHealthState.Builder wire) {
        DrainOrder order = state.health().drain();
        wire.setDrainMode(
                        switch (order.mode()) {
                            case NONE -> io.gpufleet.proto.health.v1.DrainMode.DRAIN_MODE_UNSPECIFIED;
                            case GPU_PODS -> io.gpufleet.proto.health.v1.DrainMode.DRAIN_MODE_GPU_PODS;
                            case ALL -> io.gpufleet.proto.health.v1.DrainMode.DRAIN_MODE_ALL;
                        })
                .addAllDrainDevices(order.devices());
        DrainProgress progress = state.acting().drain();
        if (!progress.equals(DrainProgress.NONE)) {
            var drain = DrainState.newBuilder()
                    .setPhase(toWire(progress.phase()))
                    .setAt(TimestampMapping.toWire(progress.at()))
                    .addAllJobs(progress.jobs())
                    .setMessage(progress.message());
            if (progress.since().isAfter(Instant.EPOCH)) {
                drain.setSince(TimestampMapping.toWire(progress.since()));
            }
            wire.setDrain(drain);
        }
        Holdings holdings = state.acting().holdings();
        if (!holdings.equals(Holdings.UNKNOWN)) {
            wire.setHoldersComplete(holdings.complete());
            holdings.holders()
                    .forEach(holder -> wire.addHolders(PodHolder.newBuilder()
                            .setNamespace(holder.pod().namespace())
                            .setPod(holder.pod().name())
                            .setPodUid(holder.pod().uid())
                            .addAllDeviceUuids(holder.devices())));
        }
    }

    static DrainOrder order(NodeHealthState wire) {
        DrainMode mode = switch (EnumMapping.recognized(wire.getDrainMode())) {
            case DRAIN_MODE_UNSPECIFIED, UNRECOGNIZED -> DrainMode.NONE;
            case DRAIN_MODE_GPU_PODS -> DrainMode.GPU_PODS;
            case DRAIN_MODE_ALL -> DrainMode.ALL;
        };
        return new DrainOrder(mode, wire.getDrainDevicesList());
    }

    static NodeState.Acting acting(SequencedMap<String, HeldBack> heldBack, NodeHealthState wire) {
        DrainState drain = wire.getDrain();
        return new NodeState.Acting(
                heldBack,
                wire.hasDrain()
                        ? new DrainProgress(
                                phase(EnumMapping.recognized(drain.getPhase())),
                                drain.hasSince() ? TimestampMapping.fromWire(drain.getSince()) : Instant.EPOCH,
                                TimestampMapping.fromWire(drain.getAt()),
                                drain.getJobsList(),
                                drain.getMessage())
                        : DrainProgress.NONE,
                new Holdings(
                        wire.getHoldersComplete(),
                        wire.getHoldersList().stream()
                                .map(holder -> new Holdings.Holder(
                                        new PodName(holder.getNamespace(), holder.getPod(), holder.getPodUid()),
                                        holder.getDeviceUuidsList()))
                                .toList()),
                RemediationMapper.progress(wire),
                wire.hasPolicyTainted() ? TimestampMapping.fromWire(wire.getPolicyTainted()) : Instant.EPOCH);
    }
}
