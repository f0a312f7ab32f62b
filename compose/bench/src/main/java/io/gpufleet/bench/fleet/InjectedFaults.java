package io.gpufleet.bench.fleet;

import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** When faults were injected, and what the bus has of each: one machine, so one clock. */
final class InjectedFaults {
    private record Injected(String node, Instant at) {}

    private record Published(Instant noticed, Instant sent, Instant appended) {}

    private final List<Injected> injected = new ArrayList<>();

    /** A fault is injected now. */
    void add(String node) {
        injected.add(new Injected(node, Instant.now()));
    }

    /** Adds the hops from the injection to the broker. */
    void measure(String bootstrap, Measurements measurements) {
        Map<String, List<Published>> published = published(bootstrap);
        var noticed = new ArrayList<Double>();
        var sent = new ArrayList<Double>();
        var appended = new ArrayList<Double>();
        for (Injected fault : injected) {
            Optional<Published> found = published.getOrDefault(fault.node(), List.of()).stream()
                    .filter(event -> event.noticed().isAfter(fault.at()))
                    .min(Comparator.comparing(Published::noticed));
            found.ifPresent(event -> {
                noticed.add(millis(fault.at(), event.noticed()));
                sent.add(millis(event.noticed(), event.sent()));
                appended.add(millis(event.sent(), event.appended()));
            });
        }
        measurements.addDistribution("fleet.hop.injected-noticed", noticed, "ms");
        measurements.addDistribution("fleet.hop.noticed-sent", sent, "ms");
        measurements.addDistribution("fleet.hop.sent-appended", appended, "ms");
    }

    private static double millis(Instant from, Instant to) {
        return Math.max(0, Duration.between(from, to).toNanos() / 1e6);
    }

    private static Map<String, List<Published>> published(String bootstrap) {
        var codec = new Codec(FleetPlan.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
        Map<String, List<Published>> byNode = new HashMap<>();
        try (var reader = new TopicReader(KafkaClients.plain(bootstrap), codec.topics(), List.of(Topic.HEALTH))) {
            reader.readAll(rec -> {
                if (codec.decode(rec) instanceof DecodedRecord.Event event
                        && event.envelope().type() == EventType.FAULT_OBSERVED) {
                    byNode.computeIfAbsent(event.envelope().key(), _ -> new ArrayList<>())
                            .add(new Published(
                                    event.envelope().time(), event.envelope().recordedTime(), event.appendedAt()));
                }
            });
        }
        return byNode;
    }
}
