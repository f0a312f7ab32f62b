package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.model.allocation.GpuPartition;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import io.gpufleet.proto.inventory.v1.AnnounceReason;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.MigInstance;
import io.gpufleet.proto.inventory.v1.MigMode;
import io.gpufleet.proto.inventory.v1.MigStrategy;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NvlinkPeer;
import io.gpufleet.proto.inventory.v1.OfferedResource;
import io.gpufleet.proto.inventory.v1.Sharing;
import io.gpufleet.proto.inventory.v1.SharingStrategy;
import io.gpufleet.proto.inventory.v1.VgpuHost;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Maps the model's snapshot of the node to the wire's announcement. */
final class InventoryMessageMapper {
    private InventoryMessageMapper() {}

    static NodeAnnounced announced(NodeFact.Announced fact) {
        var message = NodeAnnounced.newBuilder()
                .setBootId(fact.host().bootId())
                .setReason(reason(fact.reason()))
                .setDaemonVersion(fact.host().daemonVersion())
                .setDeviceSource(fact.host().deviceSource())
                .setKernelVersion(fact.host().kernelVersion())
                .setMachine(fact.host().machine())
                .setMigStrategy(migStrategy(fact.settings().mig()))
                .setGpusKnownSince(HealthMessageMapper.timestamp(fact.gpusKnownSince()))
                .setInstallerState(fact.companions().installer())
                .putAllMpsStates(fact.companions().mps());
        switch (fact.scan()) {
            case DeviceScan.ScanSucceeded seen ->
                message.setDriverState(DriverState.DRIVER_STATE_READY)
                        .setDriverVersion(seen.driverVersion())
                        .setCudaVersion(seen.cudaVersion());
            case DeviceScan.ScanFailed(DeviceScan.DriverProblem trouble, String _) ->
                message.setDriverState(state(trouble));
        }
        for (KnownGpu known : fact.gpus()) {
            List<OfferedDevice> offers = fact.offers().values().stream()
                    .filter(offer -> offer.gpu().uuid().equals(known.gpu().uuid())
                            && !offer.health().leaving())
                    .toList();
            message.addGpus(gpu(known, offers, fact.settings().sharing().mode()));
        }
        resources(fact.offers()).forEach(message::addResources);
        return message.build();
    }

    /** Excludes devices that are leaving the kubelet's list: they are no capacity of the node. */
    private static Iterable<OfferedResource> resources(Map<String, OfferedDevice> offers) {
        var byName = new TreeMap<String, OfferedResource>();
        for (OfferedDevice offer : offers.values()) {
            var before = byName.getOrDefault(offer.resource(), OfferedResource.getDefaultInstance());
            byName.put(
                    offer.resource(),
                    OfferedResource.newBuilder()
                            .setName(offer.resource())
                            .setCapacity(before.getCapacity() + (offer.health().leaving() ? 0 : 1))
                            .setAllocatable(before.getAllocatable() + (offer.healthy() ? 1 : 0))
                            .build());
        }
        return byName.values();
    }

    private static io.gpufleet.proto.inventory.v1.Gpu gpu(
            KnownGpu known, List<OfferedDevice> offers, SharingMode means) {
        Gpu gpu = known.gpu();
        var message = io.gpufleet.proto.inventory.v1.Gpu.newBuilder()
                .setUuid(gpu.uuid())
                .setSerial(gpu.identifiers().serial().orElse(""))
                .setIndex(gpu.index())
                .setMinor(gpu.identifiers().minor())
                .setPciBusId(gpu.pciBusId())
                .setModel(gpu.model())
                .setShortModel(gpu.product().shortModel())
                .setFamily(gpu.product().family())
                .setComputeCapability(gpu.product().computeCapability())
                .setMemoryBytes(gpu.memoryBytes().orElse(0L))
                .setVbiosVersion(gpu.identifiers().vbiosVersion().orElse(""))
                .setFabricClique(gpu.topology().fabricClique().orElse(""))
                .setMode(gpu.product().mode().orElse(""))
                .setMigMode(mig(gpu.mig().enabled()))
                .setSharing(sharing(offers, means))
                .setResource(offers.stream()
                        .filter(offer -> offer.partition() instanceof GpuPartition.FullGpu)
                        .map(OfferedDevice::resource)
                        .findFirst()
                        .orElse(""))
                .setLocalHealth(health(known, offers));
        gpu.instances().forEach(instance -> message.addMigInstances(instance(instance, offers)));
        gpu.topology().numaNode().asOptional().ifPresent(message::setNumaNode);
        gpu.vgpuHost()
                .asOptional()
                .ifPresent(host -> message.setVgpuHost(VgpuHost.newBuilder()
                        .setDriverVersion(host.driverVersion())
                        .setDriverBranch(host.driverBranch())));
        for (Gpu.NvLinkPeer link : gpu.topology().links()) {
            message.addNvlinkPeers(NvlinkPeer.newBuilder()
                    .setPciBusId(link.peerPciBusId())
                    .setLinks(link.count())
                    .setViaSwitch(link.viaSwitch()));
        }
        return message.build();
    }

    private static MigInstance instance(
            io.gpufleet.nodedaemon.model.device.MigInstance instance, List<OfferedDevice> offers) {
        var attributes = instance.attributes();
        return MigInstance.newBuilder()
                .setUuid(instance.uuid())
                .setProfile(instance.profile())
                .setGpuInstanceId(instance.gpuInstance())
                .setComputeInstanceId(instance.computeInstance())
                .setMemoryBytes(attributes.memoryBytes())
                .setMultiprocessors(attributes.multiprocessors())
                .setGpuSlices(attributes.slices().gpu())
                .setComputeSlices(attributes.slices().compute())
                .setCopyEngines(attributes.engines().copy())
                .setDecoders(attributes.engines().decoder())
                .setEncoders(attributes.engines().encoder())
                .setJpegs(attributes.engines().jpeg())
                .setOfas(attributes.engines().ofa())
                .setResource(offers.stream()
                        .filter(offer -> offer.deviceUuid().equals(instance.uuid()))
                        .map(OfferedDevice::resource)
                        .findFirst()
                        .orElse(""))
                .build();
    }

    private static Sharing sharing(List<OfferedDevice> offers, SharingMode means) {
        int replicas = offers.stream().mapToInt(OfferedDevice::replicas).max().orElse(1);
        return Sharing.newBuilder()
                .setStrategy(replicas == 1 ? SharingStrategy.SHARING_STRATEGY_NONE : strategy(means))
                .setReplicas(replicas)
                .build();
    }

    private static SharingStrategy strategy(SharingMode means) {
        return switch (means) {
            case NONE -> SharingStrategy.SHARING_STRATEGY_NONE;
            case TIME_SLICING -> SharingStrategy.SHARING_STRATEGY_TIME_SLICING;
            case MPS -> SharingStrategy.SHARING_STRATEGY_MPS;
        };
    }

    private static MigStrategy migStrategy(io.gpufleet.nodedaemon.model.settings.MigStrategy strategy) {
        return switch (strategy) {
            case NONE -> MigStrategy.MIG_STRATEGY_NONE;
            case SINGLE -> MigStrategy.MIG_STRATEGY_SINGLE;
            case MIXED -> MigStrategy.MIG_STRATEGY_MIXED;
        };
    }

    private static LocalHealth health(KnownGpu known, List<OfferedDevice> offers) {
        return switch (known.presence()) {
            case KnownGpu.Presence.Missing _ -> LocalHealth.LOCAL_HEALTH_LOST;
            case KnownGpu.Presence.Answering _ ->
                offers.isEmpty()
                                || offers.stream()
                                        .anyMatch(device -> device.health().locallyHealthy())
                        ? LocalHealth.LOCAL_HEALTH_HEALTHY
                        : LocalHealth.LOCAL_HEALTH_UNHEALTHY;
        };
    }

    private static MigMode mig(Reading<Boolean> enabled) {
        return enabled.asOptional()
                .map(on -> on ? MigMode.MIG_MODE_ENABLED : MigMode.MIG_MODE_DISABLED)
                .orElse(MigMode.MIG_MODE_UNSPECIFIED);
    }

    private static AnnounceReason reason(NodeFact.Reason reason) {
        return switch (reason) {
            case START -> AnnounceReason.ANNOUNCE_REASON_START;
            case CHANGED -> AnnounceReason.ANNOUNCE_REASON_CHANGED;
            case AFTER_LOSS -> AnnounceReason.ANNOUNCE_REASON_AFTER_LOSS;
            case PERIODIC -> AnnounceReason.ANNOUNCE_REASON_PERIODIC;
        };
    }

    private static DriverState state(DeviceScan.DriverProblem trouble) {
        return switch (trouble) {
            case LIBRARY_ABSENT -> DriverState.DRIVER_STATE_LIBRARY_ABSENT;
            case NOT_LOADED -> DriverState.DRIVER_STATE_NOT_LOADED;
            case VERSION_MISMATCH -> DriverState.DRIVER_STATE_VERSION_MISMATCH;
            case HELD -> DriverState.DRIVER_STATE_HELD;
            case FAILED -> DriverState.DRIVER_STATE_FAILED;
        };
    }
}
