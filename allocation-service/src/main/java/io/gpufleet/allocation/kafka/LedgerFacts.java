package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.model.ledger.DeviceSlot;
import io.gpufleet.allocation.model.ledger.EndReason;
import io.gpufleet.allocation.model.ledger.EndedPod;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.HeldDevice;
import io.gpufleet.allocation.model.ledger.Holder;
import io.gpufleet.allocation.model.ledger.Holding;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.Stamp;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.wire.fold.Inbound;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Facts of the bus as the ledger understands them; most of them are none of its business. */
final class LedgerFacts {
    private LedgerFacts() {}

    static Optional<LedgerFact> of(Inbound event) {
        Message payload = event.payload();
        if (payload instanceof DevicesAllocated allocated) {
            return Optional.of(new LedgerFact.Allocated(
                    allocated.getBootId(),
                    allocated.getResource(),
                    allocated.getDeviceIdsList(),
                    event.envelope().time(),
                    event.appendedAt(),
                    stamp(event)));
        }
        if (payload instanceof DevicesHeld held) {
            return Optional.of(new LedgerFact.Snapshot(
                    held.getBootId(),
                    holdings(held),
                    held.getComplete(),
                    event.envelope().time(),
                    event.appendedAt(),
                    clockAhead(event),
                    stamp(event)));
        }
        if (payload instanceof NodeVerdict verdict) {
            return Optional.of(new LedgerFact.TrustChanged(untrusted(verdict, event.appendedAt()), event.appendedAt()));
        }
        if (payload instanceof NodeAnnounced announced) {
            return Optional.of(announced(announced));
        }
        return payload instanceof KubernetesFact fact ? kubernetes(fact, event) : Optional.empty();
    }

    private static Optional<LedgerFact> kubernetes(KubernetesFact fact, Inbound event) {
        return switch (fact.getFactCase()) {
            case POD -> {
                var pod = fact.getPod();
                yield pod.hasFinishedAt()
                        ? Optional.of(new LedgerFact.PodEnded(new EndedPod(
                                pod.getNamespace(),
                                pod.getName(),
                                pod.getUid(),
                                LedgerMessages.time(pod.getFinishedAt()))))
                        : Optional.empty();
            }
            case NODE_DELETED -> Optional.of(new LedgerFact.MachineGone(event.appendedAt(), EndReason.NODE_LOST));
            case NODE, PATCH, MARK_REMOVED, FACT_NOT_SET -> Optional.empty();
        };
    }

    private static List<Holding> holdings(DevicesHeld held) {
        List<Holding> holdings = new ArrayList<>();
        held.getHoldersList().forEach(message -> {
            var holder = new Holder(
                    message.getNamespace(),
                    message.getPod(),
                    message.getPodUid(),
                    message.getContainer(),
                    message.getResource());
            message.getDevicesList()
                    .forEach(device -> holdings.add(new Holding(
                            holder,
                            new HeldDevice(
                                    device.getId(),
                                    new DeviceSlot(device.getDeviceUuid(), device.getReplica()),
                                    device.getShortModel(),
                                    device.getShareOf(),
                                    device.getMigProfile()))));
        });
        return holdings;
    }

    private static Map<String, Instant> untrusted(NodeVerdict verdict, Instant appendedAt) {
        Map<String, Instant> untrusted = new TreeMap<>();
        for (DeviceVerdict device : verdict.getDevicesList()) {
            if (!device.getTrusted()) {
                untrusted.put(
                        device.getDeviceUuid(),
                        device.hasSince() ? LedgerMessages.time(device.getSince()) : appendedAt);
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
                    new GpuModel(gpu.getModel(), gpu.getShortModel(), 1),
                    (one, two) -> new GpuModel(one.model(), one.shortModel(), one.gpus() + two.gpus()));
            gpu.getMigInstancesList().forEach(mig -> migParents.put(mig.getUuid(), gpu.getUuid()));
        }
        return new LedgerFact.GpusAnnounced(List.copyOf(models.values()), migParents);
    }

    private static Stamp stamp(Inbound event) {
        return new Stamp(event.envelope().id().epoch(), event.envelope().id().sequence());
    }

    // What lies between sending and appending makes the node seem behind by as much: a few milliseconds.
    private static long clockAhead(Inbound event) {
        Instant sent = event.envelope().time().plusMillis(event.envelope().ageMillis());
        return Duration.between(event.appendedAt(), sent).toMillis();
    }
}
