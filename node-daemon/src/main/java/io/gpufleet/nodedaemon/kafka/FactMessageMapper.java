package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.Message;
import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.model.allocation.GpuPartition;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.UnallocatedUse;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.telemetry.v1.DeviceSample;
import io.gpufleet.proto.telemetry.v1.TelemetrySampled;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Maps facts of the model to messages of the wire. */
final class FactMessageMapper {
    /** Separates the UUID of a device from the number of the replica. */
    private static final String REPLICA_SEPARATOR = "::";

    private final String bootId;

    FactMessageMapper(String bootId) {
        this.bootId = bootId;
    }

    /**
     * A fact as an event.
     *
     * @param subject UUID of the device, if the event is about one device; else empty
     */
    record MappedEvent(EventType type, String subject, Message payload) {
        Topic topic() {
            return FactMessageMapper.topic(type);
        }
    }

    /** The only topic of the type: except losses, every event of a daemon has one. */
    private static Topic topic(EventType type) {
        return type.topics().iterator().next();
    }

    /** The topic of a fact. */
    static Topic topic(NodeFact fact) {
        return topic(type(fact));
    }

    /** The event type of a fact. */
    static EventType type(NodeFact fact) {
        return switch (fact) {
            case NodeFact.Announced _ -> EventType.NODE_ANNOUNCED;
            case NodeFact.Departed _ -> EventType.NODE_DEPARTED;
            case NodeFact.FaultObserved _ -> EventType.FAULT_OBSERVED;
            case NodeFact.FaultCleared _ -> EventType.FAULT_CLEARED;
            case NodeFact.FaultsOpen _ -> EventType.FAULTS_OPEN;
            case NodeFact.Offered _ -> EventType.DEVICE_OFFERED;
            case NodeFact.Allocated _ -> EventType.DEVICES_ALLOCATED;
            case NodeFact.Held _ -> EventType.DEVICES_HELD;
            case NodeFact.Sampled _ -> EventType.TELEMETRY_SAMPLED;
        };
    }

    MappedEvent map(NodeFact fact) {
        return switch (fact) {
            case NodeFact.Announced announced ->
                new MappedEvent(type(fact), "", InventoryMessageMapper.announced(announced));
            case NodeFact.Departed(String reason) ->
                new MappedEvent(
                        type(fact),
                        "",
                        NodeDeparted.newBuilder()
                                .setBootId(bootId)
                                .setReason(reason)
                                .build());
            case NodeFact.FaultObserved(var fault, var holders) -> {
                var message = FaultObserved.newBuilder().setBootId(bootId).setFault(HealthMessageMapper.fault(fault));
                holders.forEach(holder -> message.addHolders(HealthMessageMapper.holder(holder)));
                yield new MappedEvent(type(fact), fault.key().gpuUuid(), message.build());
            }
            case NodeFact.FaultCleared(var fault, String proof) ->
                new MappedEvent(
                        type(fact),
                        fault.key().gpuUuid(),
                        FaultCleared.newBuilder()
                                .setBootId(bootId)
                                .setFault(HealthMessageMapper.fault(fault))
                                .setProof(proof)
                                .build());
            case NodeFact.FaultsOpen(var faults, var offers, long knownSinceEpoch) -> {
                var message = OpenFaults.newBuilder().setBootId(bootId).setKnownSinceEpoch(knownSinceEpoch);
                faults.forEach(fault -> message.addFaults(HealthMessageMapper.open(fault)));
                offers.forEach(offer -> message.addOffers(HealthMessageMapper.offer(offer)));
                yield new MappedEvent(type(fact), "", message.build());
            }
            case NodeFact.Offered(var offer) ->
                new MappedEvent(
                        type(fact),
                        offer.gpu().uuid(),
                        DeviceOfferChanged.newBuilder()
                                .setBootId(bootId)
                                .setOffer(HealthMessageMapper.offer(offer))
                                .build());
            case NodeFact.Allocated allocated -> new MappedEvent(type(fact), "", allocated(allocated));
            case NodeFact.Held held -> new MappedEvent(type(fact), "", held(held));
            case NodeFact.Sampled sampled -> new MappedEvent(type(fact), "", sampled(sampled));
        };
    }

    private DevicesAllocated allocated(NodeFact.Allocated fact) {
        return DevicesAllocated.newBuilder()
                .setBootId(bootId)
                .setResource(fact.resource())
                .addAllDeviceIds(fact.deviceIds())
                .addAllStrategies(fact.strategies())
                .setDurationUs(fact.micros())
                .build();
    }

    private DevicesHeld held(NodeFact.Held fact) {
        var message = DevicesHeld.newBuilder()
                .setBootId(bootId)
                .setComplete(fact.holdings().complete());
        Map<String, List<OfferedDevice>> offers =
                fact.offers().stream().collect(Collectors.groupingBy(OfferedDevice::id));
        for (Holder holder : fact.holdings().holders()) {
            message.addHolders(holder(holder, offers));
        }
        fact.unallocated().forEach(use -> message.addUnallocated(unallocatedUse(use)));
        return message.build();
    }

    private static io.gpufleet.proto.allocation.v1.UnallocatedUse unallocatedUse(UnallocatedUse use) {
        var message = io.gpufleet.proto.allocation.v1.UnallocatedUse.newBuilder()
                .setDeviceUuid(use.deviceUuid())
                .setPodUid(use.podUid())
                .setProcesses(use.processes());
        use.usedBytes().asOptional().ifPresent(message::setUsedBytes);
        return message.build();
    }

    private static io.gpufleet.proto.allocation.v1.Holder holder(
            Holder holder, Map<String, List<OfferedDevice>> offers) {
        var message = io.gpufleet.proto.allocation.v1.Holder.newBuilder()
                .setNamespace(holder.namespace())
                .setPod(holder.pod())
                .setPodUid(holder.podUid())
                .setContainer(holder.container())
                .setResource(holder.resource());
        for (String id : holder.deviceIds()) {
            message.addDevices(device(id, offered(holder.resource(), offers.getOrDefault(id, List.of()))));
        }
        return message.build();
    }

    /** Prefers the offer of the resource: an id has two while it moves from one resource to another. */
    private static Optional<OfferedDevice> offered(String resource, List<OfferedDevice> offers) {
        return offers.stream()
                .max(Comparator.comparing(offer -> offer.resource().equals(resource)));
    }

    private static HeldDevice device(String id, Optional<OfferedDevice> offer) {
        int separator = id.indexOf(REPLICA_SEPARATOR);
        return HeldDevice.newBuilder()
                .setId(id)
                .setDeviceUuid(separator < 0 ? id : id.substring(0, separator))
                .setReplica(separator < 0 ? 0 : replica(id.substring(separator + REPLICA_SEPARATOR.length())))
                .setShortModel(offer.map(of -> of.gpu().product().shortModel()).orElse(""))
                .setShareOf(offer.map(OfferedDevice::replicas).orElse(1))
                .setMigProfile(offer.map(OfferedDevice::partition)
                        .flatMap(part -> switch (part) {
                            case GpuPartition.FullGpu _ -> Optional.<String>empty();
                            case GpuPartition.Mig(MigInstance instance) -> Optional.of(instance.profile());
                        })
                        .orElse(""))
                .build();
    }

    /** Ids of other plugins of the node may end differently. */
    private static int replica(String text) {
        return text.matches("\\d{1,9}") ? Integer.parseInt(text) : 0;
    }

    private TelemetrySampled sampled(NodeFact.Sampled fact) {
        var message = TelemetrySampled.newBuilder().setBootId(bootId);
        for (GpuSample sample : fact.samples()) {
            message.addSamples(sample(sample, fact.memoryBytes()));
        }
        return message.build();
    }

    private static DeviceSample sample(GpuSample sample, Map<String, Long> memoryBytes) {
        var message = DeviceSample.newBuilder().setDeviceUuid(sample.gpuUuid());
        sample.device().utilization().gpu().asOptional().ifPresent(message::setGpuUtilizationPercent);
        sample.device().utilization().memory().asOptional().ifPresent(message::setMemoryUtilizationPercent);
        sample.device().memoryUsedBytes().asOptional().ifPresent(message::setMemoryUsedBytes);
        if (memoryBytes.containsKey(sample.gpuUuid())) {
            message.setMemoryTotalBytes(memoryBytes.get(sample.gpuUuid()));
        }
        sample.device().power().milliwatts().asOptional().ifPresent(message::setPowerMilliwatts);
        sample.device().temperatureCelsius().asOptional().ifPresent(message::setTemperatureCelsius);
        sample.device().clocks().smMhz().asOptional().ifPresent(message::setSmClockMhz);
        sample.device().clocks().memoryMhz().asOptional().ifPresent(message::setMemoryClockMhz);
        sample.device().power().energyMillijoules().asOptional().ifPresent(message::setEnergyMillijoules);
        sample.device().pcieReplays().asOptional().ifPresent(message::setPcieReplays);
        sample.device().clocks().eventReasons().asOptional().ifPresent(message::setClockEventReasons);
        return message.build();
    }
}
