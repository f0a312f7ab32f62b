package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.kafka.outbox.OutboxEntry;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TraceParent;
import java.time.Duration;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Encodes entries of the outbox as events, with the age that they have when they are sent. */
record OutboxEntryEncoder(Codec codec, String node, long epoch) {
    ProducerRecord<String, byte[]> encode(OutboxEntry entry, Moment moment) {
        // The monotonic clock of an earlier daemon is not comparable, so the age of its events is by the wall clock.
        Duration age = entry.epoch() == epoch
                ? moment.since(entry.observedNanos())
                : Duration.between(entry.observed(), moment.wall());
        var id = new EventId(node, entry.epoch(), entry.topic(), entry.sequence());
        // A sample causes nothing that a trace could follow.
        String trace = entry.topic() == Topic.TELEMETRY ? "" : TraceParent.of(id);
        return codec.encode(
                new Envelope(
                        id,
                        new EventSource.Node(codec.cluster(), node),
                        entry.type(),
                        entry.subject(),
                        node,
                        new EventTime(entry.observed(), moment.wall(), Math.max(0, age.toMillis())),
                        trace),
                entry.json());
    }
}
