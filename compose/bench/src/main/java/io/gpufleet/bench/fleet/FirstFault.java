package io.gpufleet.bench.fleet;

import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.proto.health.v1.DecisionTaken;
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
import java.util.List;
import java.util.Optional;

/**
 * The hops of one fault by what the bus has of it: a histogram of a service that has just started also counts the events of
 * its start.
 *
 * @param tainted when the watch showed the taint
 */
record FirstFault(String node, Instant injected, Instant tainted) {
    /** Adds the hops that were found, with names that begin so. */
    void measure(String bootstrap, String prefix, Measurements measurements) {
        List<DecodedRecord.Event> events = events(bootstrap);
        Optional<DecodedRecord.Event> fault = events.stream()
                .filter(event -> event.envelope().type() == EventType.FAULT_OBSERVED
                        && event.envelope().time().isAfter(injected))
                .findFirst();
        fault.ifPresent(event -> {
            Instant noticed = event.envelope().time();
            Instant sent = event.envelope().recordedTime();
            add(measurements, prefix + ".injected-noticed", injected, noticed);
            add(measurements, prefix + ".noticed-sent", noticed, sent);
            add(measurements, prefix + ".sent-appended", sent, event.appendedAt());
            decision(events, event).ifPresent(decided -> {
                add(measurements, prefix + ".appended-decided", event.appendedAt(), decided.appendedAt());
                add(measurements, prefix + ".decided-tainted", decided.appendedAt(), tainted);
            });
        });
    }

    private static Optional<DecodedRecord.Event> decision(List<DecodedRecord.Event> events, DecodedRecord.Event fault) {
        String id = fault.envelope().id().toString();
        return events.stream()
                .filter(event -> event.payload() instanceof DecisionTaken decision
                        && decision.getEvidenceList().contains(id))
                .findFirst();
    }

    private List<DecodedRecord.Event> events(String bootstrap) {
        var codec = new Codec(FleetPlan.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
        var found = new ArrayList<DecodedRecord.Event>();
        try (var reader = new TopicReader(
                KafkaClients.plain(bootstrap), codec.topics(), List.of(Topic.HEALTH, Topic.DECISIONS))) {
            reader.readAll(rec -> {
                if (codec.decode(rec) instanceof DecodedRecord.Event event
                        && event.envelope().key().equals(node)) {
                    found.add(event);
                }
            });
        }
        found.sort(Comparator.comparing(DecodedRecord.Event::appendedAt));
        return found;
    }

    private static void add(Measurements measurements, String name, Instant from, Instant to) {
        measurements.add(name, Duration.between(from, to).toNanos() / 1e6, "ms");
    }
}
