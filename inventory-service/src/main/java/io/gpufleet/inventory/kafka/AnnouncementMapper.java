package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.proto.inventory.v1.AnnounceReason;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.MigStrategy;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.OfferedResource;
import io.gpufleet.runtime.projection.Interner;
import java.time.Instant;

/** Maps {@code NodeAnnounced} to an announcement and back. */
final class AnnouncementMapper {
    private static final EnumMapping<AnnounceReason, Announcement.AnnouncementReason> REASON = EnumMapping.unknown(
                    AnnounceReason.ANNOUNCE_REASON_UNSPECIFIED, Announcement.AnnouncementReason.UNKNOWN)
            .and(AnnounceReason.ANNOUNCE_REASON_START, Announcement.AnnouncementReason.START)
            .and(AnnounceReason.ANNOUNCE_REASON_CHANGED, Announcement.AnnouncementReason.CHANGED)
            .and(AnnounceReason.ANNOUNCE_REASON_AFTER_LOSS, Announcement.AnnouncementReason.AFTER_LOSS)
            .and(AnnounceReason.ANNOUNCE_REASON_PERIODIC, Announcement.AnnouncementReason.PERIODIC);
    private static final EnumMapping<DriverState, Announcement.DriverState> DRIVER = EnumMapping.unknown(
                    DriverState.DRIVER_STATE_UNSPECIFIED, Announcement.DriverState.UNKNOWN)
            .and(DriverState.DRIVER_STATE_READY, Announcement.DriverState.READY)
            .and(DriverState.DRIVER_STATE_LIBRARY_ABSENT, Announcement.DriverState.LIBRARY_ABSENT)
            .and(DriverState.DRIVER_STATE_NOT_LOADED, Announcement.DriverState.NOT_LOADED)
            .and(DriverState.DRIVER_STATE_VERSION_MISMATCH, Announcement.DriverState.VERSION_MISMATCH)
            .and(DriverState.DRIVER_STATE_HELD, Announcement.DriverState.HELD)
            .and(DriverState.DRIVER_STATE_FAILED, Announcement.DriverState.FAILED);
    private static final EnumMapping<MigStrategy, Announcement.MigStrategy> MIG = EnumMapping.unknown(
                    MigStrategy.MIG_STRATEGY_UNSPECIFIED, Announcement.MigStrategy.UNKNOWN)
            .and(MigStrategy.MIG_STRATEGY_NONE, Announcement.MigStrategy.NONE)
            .and(MigStrategy.MIG_STRATEGY_SINGLE, Announcement.MigStrategy.SINGLE)
            .and(MigStrategy.MIG_STRATEGY_MIXED, Announcement.MigStrategy.MIXED);

    private static final Interner<Announcement.Driver> DRIVERS = new Interner<>(1_000);
    private static final Interner<Announcement.ExtendedResource> RESOURCES = new Interner<>(1_000);

    private AnnouncementMapper() {}

    static Announcement model(NodeAnnounced wire, Instant appendedAt) {
        return new Announcement(
                new Announcement.NodeSystemInfo(wire.getBootId(), wire.getKernelVersion(), wire.getMachine()),
                new Announcement.Daemon(
                        wire.getDaemonVersion(),
                        wire.getDeviceSource(),
                        wire.hasGpusKnownSince() ? WireTimes.instant(wire.getGpusKnownSince()) : null),
                DRIVERS.intern(new Announcement.Driver(
                        DRIVER.model(wire.getDriverState()), wire.getDriverVersion(), wire.getCudaVersion())),
                wire.getGpusList().stream().map(GpuMapper::model).toList(),
                wire.getResourcesList().stream()
                        .map(resource -> RESOURCES.intern(new Announcement.ExtendedResource(
                                resource.getName(), resource.getCapacity(), resource.getAllocatable())))
                        .toList(),
                new Announcement.Companions(wire.getInstallerState(), wire.getMpsStatesMap()),
                MIG.model(wire.getMigStrategy()),
                new Announcement.EventMetadata(REASON.model(wire.getReason()), appendedAt));
    }

    static NodeAnnounced wire(Announcement announcement) {
        var wire = NodeAnnounced.newBuilder()
                .setBootId(announcement.bootId())
                .setReason(REASON.wire(announcement.metadata().reason()))
                .setDaemonVersion(announcement.daemon().version())
                .setDeviceSource(announcement.daemon().deviceSource())
                .setDriverState(DRIVER.wire(announcement.driver().state()))
                .setDriverVersion(announcement.driver().version())
                .setCudaVersion(announcement.driver().cudaVersion())
                .setKernelVersion(announcement.system().kernelVersion())
                .setMachine(announcement.system().machine())
                .setInstallerState(announcement.companions().installerState())
                .putAllMpsStates(announcement.companions().mpsStates())
                .setMigStrategy(MIG.wire(announcement.migStrategy()));
        Instant knownSince = announcement.daemon().gpusKnownSince();
        if (knownSince != null) {
            wire.setGpusKnownSince(WireTimes.timestamp(knownSince));
        }
        announcement.gpus().forEach(gpu -> wire.addGpus(GpuMapper.wire(gpu)));
        announcement
                .resources()
                .forEach(resource -> wire.addResources(OfferedResource.newBuilder()
                        .setName(resource.name())
                        .setCapacity(resource.capacity())
                        .setAllocatable(resource.allocatable())));
        return wire.build();
    }
}
