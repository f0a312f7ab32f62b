package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.proto.inventory.v1.AnnounceReason;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.MigStrategy;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.OfferedResource;
import java.time.Instant;

/** An announcement on the wire and in the model. */
final class AnnouncementMapper {
    private static final Words<AnnounceReason, Announcement.Reason> REASON = Words.unknown(
                    AnnounceReason.ANNOUNCE_REASON_UNSPECIFIED, Announcement.Reason.UNKNOWN)
            .and(AnnounceReason.ANNOUNCE_REASON_START, Announcement.Reason.START)
            .and(AnnounceReason.ANNOUNCE_REASON_CHANGED, Announcement.Reason.CHANGED)
            .and(AnnounceReason.ANNOUNCE_REASON_AFTER_LOSS, Announcement.Reason.AFTER_LOSS)
            .and(AnnounceReason.ANNOUNCE_REASON_PERIODIC, Announcement.Reason.PERIODIC);
    private static final Words<DriverState, Announcement.DriverState> DRIVER = Words.unknown(
                    DriverState.DRIVER_STATE_UNSPECIFIED, Announcement.DriverState.UNKNOWN)
            .and(DriverState.DRIVER_STATE_READY, Announcement.DriverState.READY)
            .and(DriverState.DRIVER_STATE_LIBRARY_ABSENT, Announcement.DriverState.LIBRARY_ABSENT)
            .and(DriverState.DRIVER_STATE_NOT_LOADED, Announcement.DriverState.NOT_LOADED)
            .and(DriverState.DRIVER_STATE_VERSION_MISMATCH, Announcement.DriverState.VERSION_MISMATCH)
            .and(DriverState.DRIVER_STATE_HELD, Announcement.DriverState.HELD)
            .and(DriverState.DRIVER_STATE_FAILED, Announcement.DriverState.FAILED);
    private static final Words<MigStrategy, Announcement.MigStrategy> MIG = Words.unknown(
                    MigStrategy.MIG_STRATEGY_UNSPECIFIED, Announcement.MigStrategy.UNKNOWN)
            .and(MigStrategy.MIG_STRATEGY_NONE, Announcement.MigStrategy.NONE)
            .and(MigStrategy.MIG_STRATEGY_SINGLE, Announcement.MigStrategy.SINGLE)
            .and(MigStrategy.MIG_STRATEGY_MIXED, Announcement.MigStrategy.MIXED);

    private AnnouncementMapper() {}

    static Announcement model(NodeAnnounced wire, Instant appendedAt) {
        return new Announcement(
                wire.getBootId(),
                REASON.model(wire.getReason()),
                wire.getDaemonVersion(),
                wire.getDeviceSource(),
                DRIVER.model(wire.getDriverState()),
                wire.getDriverVersion(),
                wire.getCudaVersion(),
                wire.getKernelVersion(),
                wire.getMachine(),
                wire.getGpusList().stream().map(GpuMapper::model).toList(),
                wire.getResourcesList().stream()
                        .map(offered -> new Announcement.Resource(
                                offered.getName(), offered.getCapacity(), offered.getAllocatable()))
                        .toList(),
                wire.getInstallerState(),
                wire.getMpsStatesMap(),
                MIG.model(wire.getMigStrategy()),
                appendedAt);
    }

    static NodeAnnounced wire(Announcement snapshot) {
        var wire = NodeAnnounced.newBuilder()
                .setBootId(snapshot.bootId())
                .setReason(REASON.wire(snapshot.reason()))
                .setDaemonVersion(snapshot.daemonVersion())
                .setDeviceSource(snapshot.deviceSource())
                .setDriverState(DRIVER.wire(snapshot.driverState()))
                .setDriverVersion(snapshot.driverVersion())
                .setCudaVersion(snapshot.cudaVersion())
                .setKernelVersion(snapshot.kernelVersion())
                .setMachine(snapshot.machine())
                .setInstallerState(snapshot.installerState())
                .putAllMpsStates(snapshot.mpsStates())
                .setMigStrategy(MIG.wire(snapshot.migStrategy()));
        snapshot.gpus().forEach(gpu -> wire.addGpus(GpuMapper.wire(gpu)));
        snapshot.resources()
                .forEach(resource -> wire.addResources(OfferedResource.newBuilder()
                        .setName(resource.name())
                        .setCapacity(resource.capacity())
                        .setAllocatable(resource.allocatable())));
        return wire.build();
    }
}
