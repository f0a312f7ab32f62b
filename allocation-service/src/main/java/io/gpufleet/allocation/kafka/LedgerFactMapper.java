package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import io.gpufleet.allocation.model.holding.PodLabels;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.FinishedPod;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.IntervalEndReason;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Maps inputs of the projection to facts of the ledger; most inputs have none. Names of pods and devices, which come in many
 * inputs, take memory once.
 */
final class LedgerFactMapper {
    private final Interner<String> texts;

    LedgerFactMapper(Interner<String> texts) {
        this.texts = texts;
    }

    /** The facts of an input, in the order in which they happened. */
    List<LedgerFact> of(Inbound input) {
        return switch (input) {
            case Inbound.Event event -> of(event);
            case Inbound.Tombstone given ->
                given.topic() == Topic.VERDICTS
                        ? List.of(new LedgerFact.TrustChanged(Map.of(), given.appendedAt()))
                        : List.of();
            // The projection remembers it: a fact for every heartbeat would be a write for every heartbeat.
            case Inbound.Heartbeat _ -> List.of();
        };
    }

    private List<LedgerFact> of(Inbound.Event event) {
        List<LedgerFact> facts = new ArrayList<>();
        if (event.envelope().source() instanceof EventSource.Node) {
            facts.add(new LedgerFact.DaemonHeard(event.appendedAt()));
        }
        if (event.newMachine()) {
            facts.add(new LedgerFact.MachineGone(event.appendedAt(), IntervalEndReason.MACHINE_REPLACED));
        }
        if (event.payload() instanceof KubernetesFact fact && fact.hasPod()) {
            facts.add(known(fact.getPod(), event.appendedAt()));
        }
        facts.addAll(payload(event));
        return facts;
    }

    private List<LedgerFact> payload(Inbound.Event event) {
        Message payload = event.payload();
        if (payload instanceof DevicesAllocated allocated) {
            return List.of(new LedgerFact.Allocated(
                    allocated.getBootId(),
                    allocated.getResource(),
                    allocated.getDeviceIdsList(),
                    event.envelope().time(),
                    event.appendedAt(),
                    eventSequence(event)));
        }
        if (payload instanceof DevicesHeld held) {
            return held(held, event);
        }
        if (payload instanceof NodeVerdict verdict) {
            return List.of(new LedgerFact.TrustChanged(untrusted(verdict, event.appendedAt()), event.appendedAt()));
        }
        if (payload instanceof NodeAnnounced announced) {
            return List.of(
                    announced(announced),
                    DeviceTimeMapper.listed(announced, event.envelope().time()));
        }
        return payload instanceof KubernetesFact fact
                ? kubernetes(fact, event).stream().toList()
                : List.of();
    }

    private List<LedgerFact> held(DevicesHeld held, Inbound.Event event) {
        List<LedgerFact> facts = new ArrayList<>();
        facts.add(new LedgerFact.HoldingsSnapshot(
                held.getBootId(),
                holdings(held),
                held.getComplete(),
                event.envelope().time(),
                event.appendedAt(),
                clockAhead(event),
                eventSequence(event)));
        DeviceTimeMapper.unallocated(held, event.envelope().time()).ifPresent(facts::add);
        return facts;
    }

    private LedgerFact known(PodFact pod, Instant appendedAt) {
        return new LedgerFact.PodKnown(new KnownPod(
                texts.intern(pod.getNamespace()),
                texts.intern(pod.getName()),
                texts.intern(pod.getUid()),
                texts.intern(pod.getOwner()),
                PodLabels.bounded(pod.getLabelsMap()),
                appendedAt));
    }

    private Optional<LedgerFact> kubernetes(KubernetesFact fact, Inbound.Event event) {
        return switch (fact.getFactCase()) {
            case POD -> {
                var pod = fact.getPod();
                yield pod.hasFinishedAt()
                        ? Optional.of(new LedgerFact.PodFinished(new FinishedPod(
                                texts.intern(pod.getNamespace()),
                                texts.intern(pod.getName()),
                                texts.intern(pod.getUid()),
                                LedgerMapper.time(pod.getFinishedAt()))))
                        : Optional.empty();
            }
            case NODE_DELETED ->
                Optional.of(new LedgerFact.MachineGone(event.appendedAt(), IntervalEndReason.NODE_LOST));
            case NODE -> Optional.of(new LedgerFact.NodeObserved());
            case PATCH, OVERRIDE, DRAIN, REMEDIATION, FACT_NOT_SET -> Optional.empty();
        };
    }

    private List<Holding> holdings(DevicesHeld held) {
        List<Holding> holdings = new ArrayList<>();
        held.getHoldersList().forEach(message -> {
            var holder = new Holder(
                    texts.intern(message.getNamespace()),
                    texts.intern(message.getPod()),
                    texts.intern(message.getPodUid()),
                    texts.intern(message.getContainer()),
                    texts.intern(message.getResource()));
            message.getDevicesList()
                    .forEach(device -> holdings.add(new Holding(
                            holder,
                            new HeldDevice(
                                    texts.intern(device.getId()),
                                    new DeviceSlot(texts.intern(device.getDeviceUuid()), device.getReplica()),
                                    texts.intern(device.getShortModel()),
                                    device.getShareOf(),
                                    texts.intern(device.getMigProfile())))));
        });
        return holdings;
    }

    private static Map<String, Instant> untrusted(NodeVerdict verdict, Instant appendedAt) {
        Map<String, Instant> untrusted = new TreeMap<>();
        if (verdict.hasTrusted() && !verdict.getTrusted() && verdict.getWithdrawsEveryDevice()) {
            untrusted.put(
                    LedgerFact.TrustChanged.EVERY_DEVICE,
                    verdict.hasSince() ? LedgerMapper.time(verdict.getSince()) : appendedAt);
        }
        for (DeviceVerdict device : verdict.getDevicesList()) {
            if (!device.getTrusted() && !device.getDeviceUuid().isEmpty()) {
                untrusted.put(
                        device.getDeviceUuid(), device.hasSince() ? LedgerMapper.time(device.getSince()) : appendedAt);
            }
        }
        return untrusted;
    }

    private static LedgerFact announced(NodeAnnounced announced) {
        Map<String, GpuModel> models = new TreeMap<>();
        Map<String, String> migParents = new TreeMap<>();
        for (Gpu gpu : announced.getGpusList()) {
            models.merge(
                    gpu.getModel(),
                    new GpuModel(gpu.getModel(), gpu.getShortModel(), 1, List.of(gpu.getUuid())),
                    (one, two) -> new GpuModel(
                            one.model(),
                            one.shortModel(),
                            one.gpus() + two.gpus(),
                            Stream.concat(one.uuids().stream(), two.uuids().stream())
                                    .toList()));
            gpu.getMigInstancesList().forEach(mig -> migParents.put(mig.getUuid(), gpu.getUuid()));
        }
        return new LedgerFact.GpusAnnounced(
                new AnnouncedGpus(List.copyOf(models.values()), offers(announced), migParents));
    }

    private static SortedSet<AnnouncedGpus.Offer> offers(NodeAnnounced announced) {
        SortedSet<AnnouncedGpus.Offer> offers = new TreeSet<>();
        for (Gpu gpu : announced.getGpusList()) {
            offers.add(offer(gpu.getResource(), gpu, ""));
            gpu.getMigInstancesList().forEach(mig -> offers.add(offer(mig.getResource(), gpu, mig.getProfile())));
        }
        offers.removeIf(offer -> offer.resource().isEmpty());
        return offers;
    }

    private static AnnouncedGpus.Offer offer(String resource, Gpu gpu, String migProfile) {
        return new AnnouncedGpus.Offer(
                resource,
                gpu.getShortModel(),
                migProfile,
                Math.max(1, gpu.getSharing().getReplicas()));
    }

    private static EventSequence eventSequence(Inbound.Event event) {
        return new EventSequence(
                event.envelope().id().epoch(), event.envelope().id().sequence());
    }

    // The time between sending and appending, a few milliseconds, is taken for a slow clock of the node.
    private static long clockAhead(Inbound.Event event) {
        Instant sent = event.envelope().time().plusMillis(event.envelope().ageMillis());
        return Duration.between(event.appendedAt(), sent).toMillis();
    }
}
