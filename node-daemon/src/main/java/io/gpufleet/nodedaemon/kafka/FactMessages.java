package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.Message;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Part;
import io.gpufleet.nodedaemon.model.UnheldUse;
import io.gpufleet.nodedaemon.model.Vitals;
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

/** From the model's facts to the messages of the bus: the mapper of the outward direction. */
final class FactMessages {
    /** Stands between the UUID of a part and the number of the share. */
    private static final String SHARE_MARK = "::";

    private final String bootId;

    FactMessages(String bootId) {
        this.bootId = bootId;
    }

    /**
     * A fact as it stands on the bus.
     *
     * @param subject device UUID where it is about one device; else empty
     */
    record Mapped(EventType type, String subject, Message payload) {
        /** Every event of a daemon has one topic, except losses. */
        Topic topic() {
            return type.topics().iterator().next();
        }
    }

    /** As what it stands on the bus. */
    static EventType type(Fact fact) {
        return switch (fact) {
            case Fact.Announced _ -> EventType.NODE_ANNOUNCED;
            case Fact.Departed _ -> EventType.NODE_DEPARTED;
            case Fact.FaultObserved _ -> EventType.FAULT_OBSERVED;
            case Fact.FaultCleared _ -> EventType.FAULT_CLEARED;
            case Fact.FaultsOpen _ -> EventType.FAULTS_OPEN;
            case Fact.Offered _ -> EventType.DEVICE_OFFERED;
            case Fact.Allocated _ -> EventType.DEVICES_ALLOCATED;
            case Fact.Held _ -> EventType.DEVICES_HELD;
            case Fact.Sampled _ -> EventType.TELEMETRY_SAMPLED;
        };
    }

    Mapped map(Fact fact) {
        return switch (fact) {
            case Fact.Announced announced -> new Mapped(type(fact), "", InventoryMessages.announced(announced));
            case Fact.Departed(String reason) ->
                new Mapped(
                        type(fact),
                        "",
                        NodeDeparted.newBuilder()
                                .setBootId(bootId)
                                .setReason(reason)
                                .build());
            case Fact.FaultObserved(var fault, var holders) -> {
                var message = FaultObserved.newBuilder().setBootId(bootId).setFault(HealthMessages.fault(fault));
                holders.forEach(holder -> message.addHolders(HealthMessages.holder(holder)));
                yield new Mapped(type(fact), fault.key().gpuUuid(), message.build());
            }
            case Fact.FaultCleared(var fault, String proof) ->
                new Mapped(
                        type(fact),
                        fault.key().gpuUuid(),
                        FaultCleared.newBuilder()
                                .setBootId(bootId)
                                .setFault(HealthMessages.fault(fault))
                                .setProof(proof)
                                .build());
            case Fact.FaultsOpen(var faults, var offers) -> {
                var message = OpenFaults.newBuilder().setBootId(bootId);
                faults.forEach(fault -> message.addFaults(HealthMessages.open(fault)));
                offers.forEach(offer -> message.addOffers(HealthMessages.offer(offer)));
                yield new Mapped(type(fact), "", message.build());
            }
            case Fact.Offered(var offer) ->
                new Mapped(
                        type(fact),
                        offer.gpu().uuid(),
                        DeviceOfferChanged.newBuilder()
                                .setBootId(bootId)
                                .setOffer(HealthMessages.offer(offer))
                                .build());
            case Fact.Allocated allocated -> new Mapped(type(fact), "", allocated(allocated));
            case Fact.Held held -> new Mapped(type(fact), "", held(held));
            case Fact.Sampled sampled -> new Mapped(type(fact), "", sampled(sampled));
        };
    }

    private DevicesAllocated allocated(Fact.Allocated fact) {
        return DevicesAllocated.newBuilder()
                .setBootId(bootId)
                .setResource(fact.resource())
                .addAllDeviceIds(fact.deviceIds())
                .addAllStrategies(fact.strategies())
                .setDurationUs(fact.micros())
                .build();
    }

    private DevicesHeld held(Fact.Held fact) {
        var message = DevicesHeld.newBuilder()
                .setBootId(bootId)
                .setComplete(fact.holdings().complete());
        Map<String, List<Offer>> offers = fact.offers().stream().collect(Collectors.groupingBy(Offer::id));
        for (Holder holder : fact.holdings().holders()) {
            message.addHolders(holder(holder, offers));
        }
        fact.unheld().forEach(use -> message.addUnheld(unheld(use)));
        return message.build();
    }

    private static io.gpufleet.proto.allocation.v1.UnheldUse unheld(UnheldUse use) {
        var message = io.gpufleet.proto.allocation.v1.UnheldUse.newBuilder()
                .setDeviceUuid(use.deviceUuid())
                .setPodUid(use.podUid())
                .setProcesses(use.processes());
        use.usedBytes().asOptional().ifPresent(message::setUsedBytes);
        return message.build();
    }

    private static io.gpufleet.proto.allocation.v1.Holder holder(Holder holder, Map<String, List<Offer>> offers) {
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

    /** An id stands twice where it leaves one resource while another has it. */
    private static Optional<Offer> offered(String resource, List<Offer> offers) {
        return offers.stream()
                .max(Comparator.comparing(offer -> offer.resource().equals(resource)));
    }

    private static HeldDevice device(String id, Optional<Offer> offer) {
        int mark = id.indexOf(SHARE_MARK);
        return HeldDevice.newBuilder()
                .setId(id)
                .setDeviceUuid(mark < 0 ? id : id.substring(0, mark))
                .setReplica(mark < 0 ? 0 : Integer.parseInt(id.substring(mark + SHARE_MARK.length())))
                .setShortModel(offer.map(of -> of.gpu().shortModel()).orElse(""))
                .setShareOf(offer.map(Offer::replicas).orElse(1))
                .setMigProfile(offer.map(Offer::part)
                        .flatMap(part -> switch (part) {
                            case Part.Whole _ -> Optional.<String>empty();
                            case Part.Slice(MigInstance instance) -> Optional.of(instance.profile());
                        })
                        .orElse(""))
                .build();
    }

    private TelemetrySampled sampled(Fact.Sampled fact) {
        var message = TelemetrySampled.newBuilder().setBootId(bootId);
        for (Vitals vitals : fact.vitals()) {
            message.addSamples(sample(vitals, fact.memoryBytes()));
        }
        return message.build();
    }

    private static DeviceSample sample(Vitals vitals, Map<String, Long> memoryBytes) {
        var sample = DeviceSample.newBuilder().setDeviceUuid(vitals.gpuUuid());
        vitals.gpuUtilizationPercent().asOptional().ifPresent(sample::setGpuUtilizationPercent);
        vitals.memoryUtilizationPercent().asOptional().ifPresent(sample::setMemoryUtilizationPercent);
        vitals.memoryUsedBytes().asOptional().ifPresent(sample::setMemoryUsedBytes);
        if (memoryBytes.containsKey(vitals.gpuUuid())) {
            sample.setMemoryTotalBytes(memoryBytes.get(vitals.gpuUuid()));
        }
        vitals.powerMilliwatts().asOptional().ifPresent(sample::setPowerMilliwatts);
        vitals.temperatureCelsius().asOptional().ifPresent(sample::setTemperatureCelsius);
        vitals.smClockMhz().asOptional().ifPresent(sample::setSmClockMhz);
        vitals.memoryClockMhz().asOptional().ifPresent(sample::setMemoryClockMhz);
        vitals.energyMillijoules().asOptional().ifPresent(sample::setEnergyMillijoules);
        vitals.pcieReplays().asOptional().ifPresent(sample::setPcieReplays);
        vitals.clockEventReasons().asOptional().ifPresent(sample::setClockEventReasons);
        return sample.build();
    }
}
