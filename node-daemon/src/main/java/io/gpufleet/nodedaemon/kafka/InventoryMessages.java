package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Part;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
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

/** From the model's snapshot of the node to the wire's announcement. */
final class InventoryMessages {
    private InventoryMessages() {}

    static NodeAnnounced announced(Fact.Announced fact) {
        var message = NodeAnnounced.newBuilder()
                .setBootId(fact.host().bootId())
                .setReason(reason(fact.reason()))
                .setDaemonVersion(fact.host().daemonVersion())
                .setDeviceSource(fact.host().deviceSource())
                .setKernelVersion(fact.host().kernelVersion())
                .setMachine(fact.host().machine())
                .setMigStrategy(migStrategy(fact.settings().mig()))
                .setInstallerState(fact.sides().installer())
                .putAllMpsStates(fact.sides().mps());
        switch (fact.look()) {
            case Look.Seen seen ->
                message.setDriverState(DriverState.DRIVER_STATE_READY)
                        .setDriverVersion(seen.driverVersion())
                        .setCudaVersion(seen.cudaVersion());
            case Look.Blind(Look.DriverTrouble trouble, String _) -> message.setDriverState(state(trouble));
        }
        for (KnownGpu known : fact.gpus()) {
            List<Offer> offers = fact.offers().values().stream()
                    .filter(offer -> offer.gpu().uuid().equals(known.gpu().uuid()) && !offer.leaving())
                    .toList();
            message.addGpus(gpu(known, offers, fact.settings().sharing().means()));
        }
        resources(fact.offers()).forEach(message::addResources);
        return message.build();
    }

    /** One that only leaves the kubelet's list is nothing that the node has to give. */
    private static Iterable<OfferedResource> resources(Map<String, Offer> offers) {
        var byName = new TreeMap<String, OfferedResource>();
        for (Offer offer : offers.values()) {
            var before = byName.getOrDefault(offer.resource(), OfferedResource.getDefaultInstance());
            byName.put(
                    offer.resource(),
                    OfferedResource.newBuilder()
                            .setName(offer.resource())
                            .setCapacity(before.getCapacity() + (offer.leaving() ? 0 : 1))
                            .setAllocatable(before.getAllocatable() + (offer.healthy() ? 1 : 0))
                            .build());
        }
        return byName.values();
    }

    private static io.gpufleet.proto.inventory.v1.Gpu gpu(KnownGpu known, List<Offer> offers, Means means) {
        Gpu gpu = known.gpu();
        var message = io.gpufleet.proto.inventory.v1.Gpu.newBuilder()
                .setUuid(gpu.uuid())
                .setSerial(gpu.serial().orElse(""))
                .setIndex(gpu.index())
                .setMinor(gpu.minor())
                .setPciBusId(gpu.pciBusId())
                .setModel(gpu.model())
                .setShortModel(gpu.shortModel())
                .setFamily(gpu.family())
                .setComputeCapability(gpu.computeCapability())
                .setMemoryBytes(gpu.memoryBytes().orElse(0L))
                .setVbiosVersion(gpu.vbiosVersion().orElse(""))
                .setFabricClique(gpu.fabricClique().orElse(""))
                .setMode(gpu.mode().orElse(""))
                .setMigMode(mig(gpu.migEnabled()))
                .setSharing(sharing(offers, means))
                .setResource(offers.stream()
                        .filter(offer -> offer.part() instanceof Part.Whole)
                        .map(Offer::resource)
                        .findFirst()
                        .orElse(""))
                .setLocalHealth(health(known, offers));
        gpu.instances().forEach(instance -> message.addMigInstances(instance(instance, offers)));
        gpu.numaNode().asOptional().ifPresent(message::setNumaNode);
        gpu.vgpuHost()
                .asOptional()
                .ifPresent(host -> message.setVgpuHost(VgpuHost.newBuilder()
                        .setDriverVersion(host.driverVersion())
                        .setDriverBranch(host.driverBranch())));
        for (Gpu.Link link : gpu.links()) {
            message.addNvlinkPeers(NvlinkPeer.newBuilder()
                    .setPciBusId(link.peerPciBusId())
                    .setLinks(link.count())
                    .setViaSwitch(link.viaSwitch()));
        }
        return message.build();
    }

    private static MigInstance instance(io.gpufleet.nodedaemon.model.MigInstance instance, List<Offer> offers) {
        var attributes = instance.attributes();
        return MigInstance.newBuilder()
                .setUuid(instance.uuid())
                .setProfile(instance.profile())
                .setGpuInstanceId(instance.gpuInstance())
                .setComputeInstanceId(instance.computeInstance())
                .setMemoryBytes(attributes.memoryBytes())
                .setMultiprocessors(attributes.multiprocessors())
                .setGpuSlices(attributes.gpuSlices())
                .setComputeSlices(attributes.computeSlices())
                .setCopyEngines(attributes.copyEngines())
                .setDecoders(attributes.decoders())
                .setEncoders(attributes.encoders())
                .setJpegs(attributes.jpegs())
                .setOfas(attributes.ofas())
                .setResource(offers.stream()
                        .filter(offer -> offer.deviceUuid().equals(instance.uuid()))
                        .map(Offer::resource)
                        .findFirst()
                        .orElse(""))
                .build();
    }

    private static Sharing sharing(List<Offer> offers, Means means) {
        int replicas = offers.stream().mapToInt(Offer::replicas).max().orElse(1);
        return Sharing.newBuilder()
                .setStrategy(replicas == 1 ? SharingStrategy.SHARING_STRATEGY_NONE : strategy(means))
                .setReplicas(replicas)
                .build();
    }

    private static SharingStrategy strategy(Means means) {
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

    private static LocalHealth health(KnownGpu known, List<Offer> offers) {
        return switch (known.presence()) {
            case KnownGpu.Presence.Missing _ -> LocalHealth.LOCAL_HEALTH_LOST;
            case KnownGpu.Presence.Answering _ ->
                offers.isEmpty() || offers.stream().anyMatch(Offer::locallyHealthy)
                        ? LocalHealth.LOCAL_HEALTH_HEALTHY
                        : LocalHealth.LOCAL_HEALTH_UNHEALTHY;
        };
    }

    private static MigMode mig(Reading<Boolean> enabled) {
        return enabled.asOptional()
                .map(on -> on ? MigMode.MIG_MODE_ENABLED : MigMode.MIG_MODE_DISABLED)
                .orElse(MigMode.MIG_MODE_UNSPECIFIED);
    }

    private static AnnounceReason reason(Fact.Reason reason) {
        return switch (reason) {
            case START -> AnnounceReason.ANNOUNCE_REASON_START;
            case CHANGED -> AnnounceReason.ANNOUNCE_REASON_CHANGED;
            case AFTER_LOSS -> AnnounceReason.ANNOUNCE_REASON_AFTER_LOSS;
            case PERIODIC -> AnnounceReason.ANNOUNCE_REASON_PERIODIC;
        };
    }

    private static DriverState state(Look.DriverTrouble trouble) {
        return switch (trouble) {
            case LIBRARY_ABSENT -> DriverState.DRIVER_STATE_LIBRARY_ABSENT;
            case NOT_LOADED -> DriverState.DRIVER_STATE_NOT_LOADED;
            case VERSION_MISMATCH -> DriverState.DRIVER_STATE_VERSION_MISMATCH;
            case HELD -> DriverState.DRIVER_STATE_HELD;
            case FAILED -> DriverState.DRIVER_STATE_FAILED;
        };
    }
}
