package io.gpufleet.health.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.health.app.drain.DrainSink;
import io.gpufleet.health.app.remediation.RemediationProgressSink;
import io.gpufleet.health.kafka.ReportedFacts;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.NodePlacement;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.NullMarked;

/** Writers of the inputs: a daemon for each node, and the observations of the replicas. */
@NullMarked
final class SimulatedWriters {
    static final int GPUS = 2;
    private static final List<Integer> XIDS = List.of(13, 48, 74, 79, 95);

    private final SimulatedBroker broker;
    private final Codec codec;
    private final CommittedFold<NodeState> fold;
    private final Random random;
    private final Map<String, Writer> writers = new HashMap<>();
    private long incarnations = 1_000;

    /** One incarnation of one writer. */
    private static final class Writer {
        private final EventSource source;
        private final long epoch;
        private final String boot;
        private final Map<Topic, Long> sequences = new HashMap<>();
        private final List<ProducerRecord<byte[], byte[]>> sent = new ArrayList<>();

        Writer(EventSource source, long epoch, String boot) {
            this.source = source;
            this.epoch = epoch;
            this.boot = boot;
        }
    }

    SimulatedWriters(SimulatedBroker broker, Codec codec, CommittedFold<NodeState> fold, Random random) {
        this.broker = broker;
        this.codec = codec;
        this.fold = fold;
        this.random = random;
    }

    /** The daemon of a node starts after a boot. */
    void boot(String node) {
        long epoch = ++incarnations;
        writers.put(node, new Writer(new EventSource.Node(codec.cluster(), node), epoch, "boot-" + epoch));
        announce(node);
    }

    /** The daemon of a node restarts within its boot. */
    void restart(String node) {
        Writer before = writer(node);
        writers.put(node, new Writer(before.source, ++incarnations, before.boot));
        announce(node);
    }

    private Writer writer(String node) {
        return java.util.Objects.requireNonNull(writers.get(node));
    }

    /** The daemon of a node says who holds its devices. */
    void held(String node, Holdings holdings) {
        var event = DevicesHeld.newBuilder().setBootId(writer(node).boot).setComplete(holdings.complete());
        holdings.holders()
                .forEach(holder -> event.addHolders(Holder.newBuilder()
                        .setNamespace(holder.pod().namespace())
                        .setPod(holder.pod().name())
                        .setPodUid(holder.pod().uid())
                        .addAllDevices(holder.devices().stream()
                                .map(device -> HeldDevice.newBuilder()
                                        .setDeviceUuid(device)
                                        .build())
                                .toList())));
        write(writer(node), node, Topic.ALLOCATION, EventType.DEVICES_HELD, event.build());
    }

    /** Every fault of a device is proven gone, as after a reset. */
    void repaired(String node, String device) {
        for (int xid : XIDS) {
            var cleared = FaultCleared.newBuilder()
                    .setBootId(writer(node).boot)
                    .setFault(fault(device, xid))
                    .setProof("reset");
            write(writer(node), node, Topic.HEALTH, EventType.FAULT_CLEARED, cleared.build());
        }
    }

    private void announce(String node) {
        var event = NodeAnnounced.newBuilder().setBootId(writer(node).boot);
        for (int i = 0; i < GPUS; i++) {
            event.addGpus(Gpu.newBuilder().setUuid(gpu(node, i)));
        }
        write(writer(node), node, Topic.INVENTORY, EventType.NODE_ANNOUNCED, event.build());
    }

    /** A fault comes or goes. */
    void fault(String node) {
        Writer writer = writer(node);
        Fault fault = fault(gpu(node, random.nextInt(GPUS)), XIDS.get(random.nextInt(XIDS.size())));
        if (random.nextBoolean()) {
            var observed = FaultObserved.newBuilder().setBootId(writer.boot).setFault(fault);
            write(writer, node, Topic.HEALTH, EventType.FAULT_OBSERVED, observed.build());
        } else {
            var cleared = FaultCleared.newBuilder()
                    .setBootId(writer.boot)
                    .setFault(fault)
                    .setProof("quiet");
            write(writer, node, Topic.HEALTH, EventType.FAULT_CLEARED, cleared.build());
        }
    }

    private static Fault fault(String device, int xid) {
        return Fault.newBuilder()
                .setDeviceUuid(device)
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .build();
    }

    /** A daemon that got no answer sends again what it has sent, from some event on. */
    void repeat(String node) {
        List<ProducerRecord<byte[], byte[]>> sent = writer(node).sent;
        sent.subList(random.nextInt(sent.size()), sent.size()).forEach(this::append);
    }

    /** A record of somebody else. */
    void unreadable(String node) {
        String topic = codec.topics().name(random.nextBoolean() ? Topic.HEALTH : Topic.SIGNALS);
        broker.append(new ProducerRecord<>(topic, node.getBytes(UTF_8), "no event".getBytes(UTF_8)));
        fold.unreadable();
    }

    private void write(Writer writer, String key, Topic topic, EventType type, Message payload) {
        var id = new EventId(writer.source.name(), writer.epoch, topic, writer.sequences.merge(topic, 1L, Long::sum));
        Instant now = broker.time().now();
        ProducerRecord<byte[], byte[]> rec = RecordKeyConverter.withByteKey(
                codec.encode(new Envelope(id, writer.source, type, "", key, new EventTime(now, now, 0), ""), payload));
        writer.sent.add(rec);
        append(rec);
        fold.produced(key, id);
    }

    private void append(ProducerRecord<byte[], byte[]> rec) {
        broker.append(new ProducerRecord<>(
                rec.topic(),
                null,
                rec.key(),
                rec.value(),
                new RecordHeaders(rec.headers().toArray())));
    }

    static String gpu(String node, int index) {
        return "GPU-" + node + "-" + index;
    }

    /** Observations of one process of a replica. */
    Observations observations(String instance) {
        return new Observations(new Writer(new EventSource.Service(codec.cluster(), instance), ++incarnations, ""));
    }

    /** What one process of a replica appends to the signals. */
    final class Observations implements SignalSink, DrainSink, RemediationProgressSink {
        private final Writer writer;

        private Observations(Writer writer) {
            this.writer = writer;
        }

        @Override
        public CompletionStage<Void> nodeObserved(String node, ObservedNode.NodeFacts facts) {
            return observed(
                    node,
                    KubernetesFact.newBuilder()
                            .setNode(NodeObject.newBuilder()
                                    .setUid(facts.uid())
                                    .setPlacement(NodePlacement.newBuilder()
                                            .setUsable(facts.placement().usable()))));
        }

        @Override
        public CompletionStage<Void> nodeDeleted(String node, String uid) {
            throw new AssertionError("no Node is deleted in this simulation, but " + node);
        }

        @Override
        public CompletionStage<Void> overrideObserved(String node, String target, String by, long revision) {
            return observed(node, ReportedFacts.override(target, by, revision));
        }

        @Override
        public CompletionStage<Void> nodePatched(String node, PatchOutcome outcome) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<Void> drainReported(String node, DrainSink.Report report) {
            return observed(node, ReportedFacts.drain(report));
        }

        @Override
        public CompletionStage<Void> remediationReported(
                String node, Remediation remediation, RemediationProgress.Phase phase, String message) {
            return observed(node, ReportedFacts.remediation(remediation, phase, message));
        }

        private CompletionStage<Void> observed(String node, KubernetesFact.Builder fact) {
            write(writer, node, Topic.SIGNALS, EventType.KUBERNETES_OBSERVED, fact.build());
            return CompletableFuture.completedFuture(null);
        }
    }
}
