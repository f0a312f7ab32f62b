package io.gpufleet.bench.health;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A service that starts with a backlog in which every GPU fails and is repaired over and over: no Node may change before the
 * last event of its partition is worked off, and each one then shows what is true at the end.
 */
final class BacklogRun {
    private static final Duration TIMEOUT = Duration.ofMinutes(30);
    private static final Duration POLL = Duration.ofMillis(500);
    /** At the end of a partition: the last decisions, and the markers of their transactions. */
    private static final int TAIL = 20;

    private final ProcessLauncher launcher;
    private final PlannedProcess health;
    private final String bootstrap;
    private final KubernetesClient client;
    private final int nodes;

    /** Starts the planned process on the broker, and watches so many Nodes through the client. */
    BacklogRun(ProcessLauncher launcher, PlannedProcess health, String bootstrap, KubernetesClient client, int nodes) {
        this.nodes = nodes;
        this.launcher = launcher;
        // However long it takes, nothing in the backlog is too old to be acted on.
        var environment = new TreeMap<>(health.environment());
        environment.put("GPUFLEET_MAX_ACTION_AGE", "24h");
        this.health = new PlannedProcess(health.name(), health.program(), environment, health.ports());
        this.bootstrap = bootstrap;
        this.client = client;
    }

    /** Writes the backlog, starts the service, measures; fails where a Node changed too early or shows what is not true. */
    void measure(FleetEvents events, int count, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        log.accept("writing " + count + " events");
        BitSet failed = events.failAndRepair(count);
        try (var changes = new NodeChanges(client)) {
            log.accept("starting the service");
            long begun = System.currentTimeMillis();
            try (var service = ServiceUnderLoad.start(launcher, health)) {
                ServiceUnderLoad.Work work = service.work(count);
                awaitTaints(changes, failed);
                measurements.add("health.backlog.events", count, "1");
                measurements.add("health.backlog.rate", work.perSecond(), "1/s");
                measurements.add("health.backlog.rate-of-a-cpu-second", work.perCpuSecond(), "1/s");
            }
            check(changes, failed, begun, measurements);
        }
    }

    private static void awaitTaints(NodeChanges changes, BitSet failed) throws InterruptedException {
        for (int node = failed.nextSetBit(0); node >= 0; node = failed.nextSetBit(node + 1)) {
            changes.awaitTaint(FleetEvents.node(node), TIMEOUT);
        }
    }

    private void check(NodeChanges changes, BitSet failed, long begun, Measurements measurements) {
        Map<Integer, Long> workedOff = lastDecisions();
        List<NodeChanges.Change> seen = changes.changes();
        long early = seen.stream()
                .filter(change -> change.atMillis() < workedOff.getOrDefault(partition(change.node()), Long.MAX_VALUE))
                .count();
        long wrong = IntStream.range(0, nodes)
                .filter(node -> changes.tainted(FleetEvents.node(node)) != failed.get(node))
                .count();
        long again = seen.size()
                - seen.stream().map(NodeChanges.Change::node).distinct().count();
        long end = seen.stream().mapToLong(NodeChanges.Change::atMillis).max().orElse(begun);
        long lagZero =
                workedOff.values().stream().mapToLong(Long::longValue).max().orElse(begun);
        measurements.add("health.backlog.start-to-lag-0", NodeChanges.seconds(begun, lagZero), "s");
        measurements.add("health.backlog.lag-0-to-last-taint", NodeChanges.seconds(lagZero, end), "s");
        measurements.add("health.backlog.nodes-to-taint", failed.cardinality(), "1");
        measurements.add("health.backlog.taints-changed", seen.size(), "1");
        measurements.add("health.backlog.changed-before-lag-0", early, "1");
        measurements.add("health.backlog.changed-again", again, "1");
        measurements.add("health.backlog.wrong", wrong, "1");
        measurements.add("health.backlog.patches", changes.patches(), "1");
        if (early + wrong + again > 0) {
            throw new IllegalStateException(early + " taints changed before lag 0, " + again + " more than once, "
                    + wrong + " Nodes show what is not true");
        }
    }

    private static int partition(String node) {
        return Topic.DECISIONS.partitionOf(node);
    }

    /** When the last decision of each partition was appended: what is applied to Nodes causes none. */
    private Map<Integer, Long> lastDecisions() {
        String topic = new Topics(Topics.DEFAULT_PREFIX).name(Topic.DECISIONS);
        try (var consumer = new KafkaConsumer<>(
                Map.<String, Object>of("bootstrap.servers", bootstrap, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = IntStream.range(0, Topic.DECISIONS.partitions())
                    .mapToObj(number -> new TopicPartition(topic, number))
                    .toList();
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            ends.forEach((partition, end) -> consumer.seek(partition, Math.max(0, end - TAIL)));
            var last = new TreeMap<Integer, Long>();
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(POLL).forEach(rec -> last.merge(rec.partition(), rec.timestamp(), Math::max));
            }
            return last;
        }
    }
}
