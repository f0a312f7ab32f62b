package io.gpufleet.bench.allocation;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.bench.projection.RecordSender;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Events of the daemons and of the API server about the pods: ends of pods up to two rounds early or late and in any order, a
 * quarter of them again, a tenth of the daemons' events twice, and now and then the last ones of a node once more, as an outbox
 * sends them that did not see them acknowledged.
 */
final class ClosingEvents implements AutoCloseable {
    private static final String RESOURCE = "nvidia.com/gpu";
    private static final int OUTBOX = 3;
    private static final int EARLY_OR_LATE = 2;

    private final Codec codec = new Codec(FleetPlan.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private final PodRuns runs;
    private final Random random;
    private final long epoch = System.currentTimeMillis();
    private final Instant begin;
    private final RecordSender sender;
    private final Map<String, Long> sequences = new HashMap<>();
    private final Map<Integer, Deque<ProducerRecord<String, byte[]>>> outboxes = new HashMap<>();
    /** Pods whose end is told in a round. */
    private final Map<Integer, List<Integer>> ends = new HashMap<>();

    private long sent;

    ClosingEvents(String bootstrap, PodRuns runs, Random random) {
        this.runs = runs;
        this.random = random;
        this.begin =
                Instant.ofEpochSecond(Instant.now().getEpochSecond() - (runs.rounds() + 10L) * PodRuns.ROUND_SECONDS);
        this.sender = new RecordSender(bootstrap, "none");
        for (int run = 0; run < runs.count(); run++) {
            if (runs.isEndTold(run)) {
                int round = runs.roundOf(run) + random.nextInt(2 * EARLY_OR_LATE + 1) - EARLY_OR_LATE;
                ends.computeIfAbsent(Math.clamp(round, 0, runs.rounds()), _ -> new ArrayList<>())
                        .add(run);
            }
        }
    }

    /** Sends everything; returns the number of events, repeated ones included. */
    long send() {
        for (int round = 0; round <= runs.rounds(); round++) {
            List<Integer> told = ends.getOrDefault(round, new ArrayList<>());
            Collections.shuffle(told, random);
            for (int node = 0; node < runs.nodes(); node++) {
                snapshot(node, round);
                ends(told, node);
            }
            ends.remove(round);
        }
        sender.flush();
        return sent;
    }

    /** The part of the ends of a round that comes after the events of a node. */
    private void ends(List<Integer> told, int node) {
        int from = (int) ((long) told.size() * node / runs.nodes());
        int to = (int) ((long) told.size() * (node + 1) / runs.nodes());
        for (int run : told.subList(from, to)) {
            podFinished(run);
            if (random.nextInt(4) == 0) {
                podFinished(told.get(random.nextInt(to)));
            }
        }
    }

    private void snapshot(int node, int round) {
        if (round < runs.rounds() && runs.isAllocateTold(node, round)) {
            var allocated = DevicesAllocated.newBuilder().setBootId(boot(node)).setResource(RESOURCE);
            for (int gpu = 0; gpu < PodRuns.GPUS; gpu++) {
                allocated.addDeviceIds(device(node, gpu));
            }
            daemon(node, EventType.DEVICES_ALLOCATED, allocated.build(), runs.begin(node, round));
        }
        var held = DevicesHeld.newBuilder().setBootId(boot(node)).setComplete(true);
        for (int gpu = 0; gpu < PodRuns.GPUS && round < runs.rounds(); gpu++) {
            held.addHolders(holder(runs.run(node, round, gpu)));
        }
        daemon(node, EventType.DEVICES_HELD, held.build(), round * PodRuns.ROUND_SECONDS);
    }

    private Holder holder(int run) {
        String device = device(runs.nodeOf(run), PodRuns.gpuOf(run));
        return Holder.newBuilder()
                .setNamespace("bench")
                .setPod(pod(run))
                .setPodUid("uid-" + run)
                .setContainer("main")
                .setResource(RESOURCE)
                .addDevices(HeldDevice.newBuilder()
                        .setId(device)
                        .setDeviceUuid(device)
                        .setShortModel("H100")
                        .setShareOf(1))
                .build();
    }

    static String pod(int run) {
        return "pod-" + run;
    }

    private static String device(int node, int gpu) {
        return "GPU-" + node + "-" + gpu;
    }

    private static String boot(int node) {
        return "boot-" + node;
    }

    private void daemon(int node, EventType type, Message payload, int second) {
        String name = FleetEvents.node(node);
        var event = event(new EventSource.Node(FleetPlan.CLUSTER, name), name, Topic.ALLOCATION, type, payload, second);
        Deque<ProducerRecord<String, byte[]>> outbox = outboxes.computeIfAbsent(node, _ -> new ArrayDeque<>());
        outbox.addLast(event);
        if (outbox.size() > OUTBOX) {
            outbox.removeFirst();
        }
        append(event);
        if (random.nextInt(10) == 0) {
            append(event);
        }
        if (random.nextInt(50) == 0) {
            outbox.forEach(this::append);
        }
    }

    private void podFinished(int run) {
        var fact = PodFact.newBuilder()
                .setNamespace("bench")
                .setName(pod(run))
                .setUid("uid-" + run)
                .setPhase("Succeeded")
                .setFinishedAt(Timestamp.newBuilder()
                        .setSeconds(begin.plusSeconds(runs.end(run)).getEpochSecond()));
        append(event(
                new EventSource.Service(FleetPlan.CLUSTER, "bench"),
                FleetEvents.node(runs.nodeOf(run)),
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder().setPod(fact).build(),
                runs.end(run)));
    }

    private ProducerRecord<String, byte[]> event(
            EventSource source, String node, Topic topic, EventType type, Message payload, int second) {
        Instant now = Instant.now();
        Instant at = begin.plusSeconds(second);
        long sequence = sequences.merge(source.name(), 1L, Long::sum);
        return codec.encode(
                new Envelope(
                        new EventId(source.name(), epoch, topic, sequence),
                        source,
                        type,
                        "",
                        node,
                        new EventTime(at, now, Duration.between(at, now).toMillis()),
                        ""),
                payload);
    }

    private void append(ProducerRecord<String, byte[]> event) {
        sent++;
        sender.send(event);
    }

    @Override
    public void close() {
        sender.close();
    }
}
