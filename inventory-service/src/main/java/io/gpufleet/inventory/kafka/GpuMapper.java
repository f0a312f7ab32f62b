package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.MigInstance;
import io.gpufleet.proto.inventory.v1.MigMode;
import io.gpufleet.proto.inventory.v1.NvlinkPeer;
import io.gpufleet.proto.inventory.v1.Sharing;
import io.gpufleet.proto.inventory.v1.SharingStrategy;
import io.gpufleet.proto.inventory.v1.VgpuHost;
import io.gpufleet.runtime.projection.Interner;

/** Maps the {@code Gpu} message to a GPU of the model and back. */
final class GpuMapper {
    private static final EnumMapping<MigMode, Gpu.MigMode> MIG = EnumMapping.unknown(
                    MigMode.MIG_MODE_UNSPECIFIED, Gpu.MigMode.NONE)
            .and(MigMode.MIG_MODE_DISABLED, Gpu.MigMode.DISABLED)
            .and(MigMode.MIG_MODE_ENABLED, Gpu.MigMode.ENABLED);
    private static final EnumMapping<LocalHealth, Gpu.LocalHealth> HEALTH = EnumMapping.unknown(
                    LocalHealth.LOCAL_HEALTH_UNSPECIFIED, Gpu.LocalHealth.UNKNOWN)
            .and(LocalHealth.LOCAL_HEALTH_HEALTHY, Gpu.LocalHealth.HEALTHY)
            .and(LocalHealth.LOCAL_HEALTH_UNHEALTHY, Gpu.LocalHealth.UNHEALTHY)
            .and(LocalHealth.LOCAL_HEALTH_LOST, Gpu.LocalHealth.LOST);
    private static final EnumMapping<SharingStrategy, Gpu.Sharing.SharingStrategy> SHARING = EnumMapping.unknown(
                    SharingStrategy.SHARING_STRATEGY_UNSPECIFIED, Gpu.Sharing.SharingStrategy.UNKNOWN)
            .and(SharingStrategy.SHARING_STRATEGY_NONE, Gpu.Sharing.SharingStrategy.NONE)
            .and(SharingStrategy.SHARING_STRATEGY_TIME_SLICING, Gpu.Sharing.SharingStrategy.TIME_SLICING)
            .and(SharingStrategy.SHARING_STRATEGY_MPS, Gpu.Sharing.SharingStrategy.MPS);

    private static final Interner<Gpu.Product> PRODUCTS = new Interner<>(1_000);
    private static final Interner<Gpu.Topology> TOPOLOGIES = new Interner<>(10_000);
    private static final Interner<Gpu.Sharing> SHARINGS = new Interner<>(1_000);
    /** Resources, VBIOS versions and bus ids, which are those of every node of a machine type. */
    private static final Interner<String> TEXTS = new Interner<>(10_000);

    private GpuMapper() {}

    static Gpu model(io.gpufleet.proto.inventory.v1.Gpu wire) {
        return new Gpu(
                new Gpu.Identifiers(
                        wire.getUuid(),
                        wire.getSerial(),
                        wire.getIndex(),
                        wire.getMinor(),
                        TEXTS.intern(wire.getPciBusId()),
                        TEXTS.intern(wire.getVbiosVersion())),
                PRODUCTS.intern(new Gpu.Product(
                        wire.getModel(),
                        wire.getShortModel(),
                        wire.getFamily(),
                        wire.getComputeCapability(),
                        wire.getMode(),
                        wire.getMemoryBytes())),
                TOPOLOGIES.intern(topology(wire)),
                new Gpu.Mig(
                        MIG.model(wire.getMigMode()),
                        wire.getMigInstancesList().stream()
                                .map(GpuMapper::model)
                                .toList()),
                TEXTS.intern(wire.getResource()),
                SHARINGS.intern(new Gpu.Sharing(
                        SHARING.model(wire.getSharing().getStrategy()),
                        wire.getSharing().getReplicas())),
                HEALTH.model(wire.getLocalHealth()),
                wire.hasVgpuHost()
                        ? new Gpu.VgpuHost(
                                wire.getVgpuHost().getDriverVersion(),
                                wire.getVgpuHost().getDriverBranch())
                        : Gpu.VgpuHost.NONE);
    }

    private static Gpu.Topology topology(io.gpufleet.proto.inventory.v1.Gpu wire) {
        return new Gpu.Topology(
                wire.hasNumaNode() ? wire.getNumaNode() : null,
                wire.getNvlinkPeersList().stream()
                        .map(peer -> new Gpu.NvlinkPeer(peer.getPciBusId(), peer.getLinks(), peer.getViaSwitch()))
                        .toList(),
                wire.getFabricClique());
    }

    private static Gpu.MigInstance model(MigInstance wire) {
        return new Gpu.MigInstance(
                wire.getUuid(),
                wire.getProfile(),
                wire.getGpuInstanceId(),
                wire.getComputeInstanceId(),
                wire.getResource(),
                new Gpu.MigAttributes(
                        wire.getMemoryBytes(),
                        wire.getMultiprocessors(),
                        wire.getGpuSlices(),
                        wire.getComputeSlices(),
                        new Gpu.Engines(
                                wire.getCopyEngines(),
                                wire.getDecoders(),
                                wire.getEncoders(),
                                wire.getJpegs(),
                                wire.getOfas())));
    }

    static io.gpufleet.proto.inventory.v1.Gpu wire(Gpu gpu) {
        var wire = io.gpufleet.proto.inventory.v1.Gpu.newBuilder()
                .setUuid(gpu.uuid())
                .setSerial(gpu.id().serial())
                .setIndex(gpu.index())
                .setMinor(gpu.id().minor())
                .setPciBusId(gpu.id().pciBusId())
                .setModel(gpu.model())
                .setShortModel(gpu.product().shortModel())
                .setFamily(gpu.product().family())
                .setComputeCapability(gpu.product().computeCapability())
                .setMemoryBytes(gpu.memoryBytes())
                .setVbiosVersion(gpu.id().vbiosVersion())
                .setFabricClique(gpu.topology().fabricClique())
                .setMigMode(MIG.wire(gpu.mig().mode()))
                .setSharing(Sharing.newBuilder()
                        .setStrategy(SHARING.wire(gpu.sharing().strategy()))
                        .setReplicas(gpu.sharing().replicas()))
                .setResource(gpu.resource())
                .setLocalHealth(HEALTH.wire(gpu.localHealth()))
                .setMode(gpu.product().mode());
        if (gpu.topology().numaNode() != null) {
            wire.setNumaNode(gpu.topology().numaNode());
        }
        if (!gpu.vgpuHost().equals(Gpu.VgpuHost.NONE)) {
            wire.setVgpuHost(VgpuHost.newBuilder()
                    .setDriverVersion(gpu.vgpuHost().driverVersion())
                    .setDriverBranch(gpu.vgpuHost().driverBranch()));
        }
        gpu.topology()
                .nvlinkPeers()
                .forEach(peer -> wire.addNvlinkPeers(NvlinkPeer.newBuilder()
                        .setPciBusId(peer.pciBusId())
                        .setLinks(peer.links())
                        .setViaSwitch(peer.viaSwitch())));
        gpu.migInstances().forEach(instance -> wire.addMigInstances(wire(instance)));
        return wire.build();
    }

    private static MigInstance wire(Gpu.MigInstance instance) {
        Gpu.MigAttributes attributes = instance.attributes();
        return MigInstance.newBuilder()
                .setUuid(instance.uuid())
                .setProfile(instance.profile())
                .setGpuInstanceId(instance.gpuInstanceId())
                .setComputeInstanceId(instance.computeInstanceId())
                .setResource(instance.resource())
                .setMemoryBytes(attributes.memoryBytes())
                .setMultiprocessors(attributes.multiprocessors())
                .setGpuSlices(attributes.gpuSlices())
                .setComputeSlices(attributes.computeSlices())
                .setCopyEngines(attributes.engines().copy())
                .setDecoders(attributes.engines().decoder())
                .setEncoders(attributes.engines().encoder())
                .setJpegs(attributes.engines().jpeg())
                .setOfas(attributes.engines().ofa())
                .build();
    }
}
