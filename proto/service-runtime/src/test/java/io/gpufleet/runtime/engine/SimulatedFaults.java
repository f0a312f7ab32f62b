package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;

/** Faults as the daemons of nodes append them to {@code gpu.health}. */
record SimulatedFaults(SimulatedBroker broker, Codec codec, SimulatedTime time) {
    private static final long EPOCH = 1_000;

    /** Appends the event of a number of a node; returns its id. */
    EventId append(String node, long sequence) {
        var id = new EventId(node, EPOCH, Topic.HEALTH, sequence);
        Instant now = time.now();
        broker.append(RecordKeyConverter.withByteKey(codec.encode(
                new Envelope(
                        id,
                        new EventSource.Node("c1", node),
                        EventType.FAULT_OBSERVED,
                        "",
                        node,
                        new EventTime(now, now, 0),
                        ""),
                EventType.FAULT_OBSERVED.prototype())));
        return id;
    }
}
