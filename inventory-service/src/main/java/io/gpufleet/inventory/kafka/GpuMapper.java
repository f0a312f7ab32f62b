package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.MigInstance;
import io.gpufleet.proto.inventory.v1.MigMode;
import io.gpufleet.proto.inventory.v1.NvlinkPeer;
import io.gpufleet.proto.inventory.v1.Sharing;
import io.gpufleet.proto.inventory.v1.SharingStrategy;
import io.gpufleet.proto.inventory.v1.VgpuHost;

/** A GPU on the wire and in the model. */
final class GpuMapper {
    private static final Words<MigMode, Gpu.MigMode> MIG = Words.unknown(MigMode.MIG_MODE_UNSPECIFIED, Gpu.MigMode.NONE)
            .and(MigMode.MIG_MODE_DISABLED, Gpu.MigMode.DISABLED)
            .and(MigMode.MIG_MODE_ENABLED, Gpu.MigMode.ENABLED);
    private static final Words<LocalHealth, Gpu.LocalHealth> HEALTH = Words.unknown(
                    LocalHealth.LOCAL_HEALTH_UNSPECIFIED, Gpu.LocalHealth.UNKNOWN)
            .and(LocalHealth.LOCAL_HEALTH_HEALTHY, Gpu.LocalHealth.HEALTHY)
            .and(LocalHealth.LOCAL_HEALTH_UNHEALTHY, Gpu.LocalHealth.UNHEALTHY)
            .and(LocalHealth.LOCAL_HEALTH_LOST, Gpu.LocalHealth.LOST);
    private static final Words<SharingStrategy, Gpu.Sharing.Strategy> SHARING = Words.unknown(
                    SharingStrategy.SHARING_STRATEGY_UNSPECIFIED, Gpu.Sharing.Strategy.UNKNOWN)
            .and(SharingStrategy.SHARING_STRATEGY_NONE, Gpu.Sharing.Strategy.NONE)
            .and(SharingStrategy.SHARING_STRATEGY_TIME_SLICING, Gpu.Sharing.Strategy.TIME_SLICING)
            .and(SharingStrategy.SHARING_STRATEGY_MPS, Gpu.Sharing.Strategy.MPS);

    private GpuMapper() {}

    static Gpu model(io.gpufleet.proto.inventory.v1.Gpu wire) {
        return new Gpu(
                wire.getUuid(),
                wire.getSerial(),
                wire.getIndex(),
                wire.getMinor(),
                wire.getPciBusId(),
                wire.getModel(),
                wire.getShortModel(),
                wire.getFamily(),
                wire.getComputeCapability(),
                wire.getMemoryBytes(),
                wire.getVbiosVersion(),
                wire.hasNumaNode() ? wire.getNumaNode() : null,
                wire.getNvlinkPeersList().stream()
                        .map(peer -> new Gpu.Peer(peer.getPciBusId(), peer.getLinks(), peer.getViaSwitch()))
                        .toList(),
                wire.getFabricClique(),
                MIG.model(wire.getMigMode()),
                wire.getMigInstancesList().stream().map(GpuMapper::model).toList(),
                new Gpu.Sharing(
                        SHARING.model(wire.getSharing().getStrategy()),
                        wire.getSharing().getReplicas()),
                wire.getResource(),
                HEALTH.model(wire.getLocalHealth()),
                wire.getMode(),
                new Gpu.VgpuHost(
                        wire.getVgpuHost().getDriverVersion(),
                        wire.getVgpuHost().getDriverBranch()));
    }

    private static Gpu.Instance model(MigInstance wire) {
        return new Gpu.Instance(
                wire.getUuid(),
                wire.getProfile(),
                wire.getGpuInstanceId(),
                wire.getComputeInstanceId(),
                wire.getMemoryBytes(),
                wire.getResource(),
                wire.getMultiprocessors());
    }

    static io.gpufleet.proto.inventory.v1.Gpu wire(Gpu gpu) {
        var wire = io.gpufleet.proto.inventory.v1.Gpu.newBuilder()
                .setUuid(gpu.uuid())
                .setSerial(gpu.serial())
                .setIndex(gpu.index())
                .setMinor(gpu.minor())
                .setPciBusId(gpu.pciBusId())
                .setModel(gpu.model())
                .setShortModel(gpu.shortModel())
                .setFamily(gpu.family())
                .setComputeCapability(gpu.computeCapability())
                .setMemoryBytes(gpu.memoryBytes())
                .setVbiosVersion(gpu.vbiosVersion())
                .setFabricClique(gpu.fabricClique())
                .setMigMode(MIG.wire(gpu.migMode()))
                .setSharing(Sharing.newBuilder()
                        .setStrategy(SHARING.wire(gpu.sharing().strategy()))
                        .setReplicas(gpu.sharing().replicas()))
                .setResource(gpu.resource())
                .setLocalHealth(HEALTH.wire(gpu.localHealth()))
                .setMode(gpu.mode());
        if (gpu.numaNode() != null) {
            wire.setNumaNode(gpu.numaNode());
        }
        if (!gpu.vgpuHost().equals(Gpu.VgpuHost.NONE)) {
            wire.setVgpuHost(VgpuHost.newBuilder()
                    .setDriverVersion(gpu.vgpuHost().driverVersion())
                    .setDriverBranch(gpu.vgpuHost().driverBranch()));
        }
        gpu.peers()
                .forEach(peer -> wire.addNvlinkPeers(NvlinkPeer.newBuilder()
                        .setPciBusId(peer.pciBusId())
                        .setLinks(peer.links())
                        .setViaSwitch(peer.viaSwitch())));
        gpu.instances().forEach(instance -> wire.addMigInstances(wire(instance)));
        return wire.build();
    }

    private static MigInstance wire(Gpu.Instance instance) {
        return MigInstance.newBuilder()
                .setUuid(instance.uuid())
                .setProfile(instance.profile())
                .setGpuInstanceId(instance.gpuInstanceId())
                .setComputeInstanceId(instance.computeInstanceId())
                .setMemoryBytes(instance.memoryBytes())
                .setResource(instance.resource())
                .setMultiprocessors(instance.multiprocessors())
                .build();
    }
}
