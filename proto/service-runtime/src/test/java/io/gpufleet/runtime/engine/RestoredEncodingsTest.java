package io.gpufleet.runtime.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import io.gpufleet.runtime.simulation.SimulatedBroker;
import io.gpufleet.runtime.simulation.SimulatedTime;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** States of former releases stand on the changelog beside those of this one: JSON, and an earlier schema. */
@NullMarked
class RestoredEncodingsTest {
    private final SimulatedTime time = new SimulatedTime();
    private final Codec codec = new Codec("c1", new Topics("gpu."));
    private final SimulatedBroker broker = new SimulatedBroker(time, codec.topics());
    private final Random random = new Random(1);
    private final CommittedFold<NodeHealthState> fold = new CommittedFold<>(new CountingProjection(), codec);
    private long sequence;

    @Test
    void statesOfBothEncodingsAreRestored() {
        append(json(state("node-1", 1)));
        append(state("node-2", 2));
        append(json(state("node-3", 3)));
        append(state("node-3", 4));
        append(state("node-4", 5));
        append(json(state("node-4", 6)));

        assertThat(restored(4)).isEqualTo(Map.of("node-1", 1L, "node-2", 2L, "node-3", 4L, "node-4", 6L));
    }

    /** A batch that is decoded on several threads: the newest state of each key counts. */
    @ParameterizedTest(name = "{0} states of each of 200 keys")
    @ValueSource(ints = {5, 60})
    void newestStateOfEachKeyCounts(int states) {
        for (int revision = 1; revision <= states; revision++) {
            for (int node = 0; node < 200; node++) {
                append(state("node-" + node, revision));
            }
        }
        assertThat(restored(200).values()).containsOnly((long) states);
    }

    /** A release that tells by the revision which schema it has migrated from. */
    private static final class NextRelease extends CountingProjection {
        @Override
        public ProjectionSpec spec() {
            ProjectionSpec spec = super.spec();
            return new ProjectionSpec(
                    spec.changelog(), spec.stateType(), 2, spec.inputs(), spec.heartbeats(), spec.outputs());
        }

        @Override
        public Message migrate(Message state, int version) {
            return ((NodeHealthState) state)
                    .toBuilder().setVerdictRevision(100L * version).build();
        }
    }

    @Test
    void statesOfAnEarlierSchemaAreMigratedAndThoseOfThePresentOneAreNot() {
        append(state("node-1", 7));
        append(versioned(state("node-2", 7), "1"));
        append(versioned(state("node-3", 7), "2"));

        assertThat(restored(3, new NextRelease())).isEqualTo(Map.of("node-1", 100L, "node-2", 100L, "node-3", 7L));
    }

    private static ProducerRecord<String, byte[]> versioned(ProducerRecord<String, byte[]> rec, String version) {
        rec.headers().add(Changelog.VERSION_HEADER, version.getBytes(UTF_8));
        return rec;
    }

    private ProducerRecord<String, byte[]> state(String node, long revision) {
        var now = time.now();
        return codec.encode(
                new Envelope(
                        new EventId("health-service-0", 1_000, Topic.HEALTH_STATE, ++sequence),
                        new EventSource.Service("c1", "health-service-0"),
                        EventType.HEALTH_CHANGED,
                        "",
                        node,
                        new EventTime(now, now, 0),
                        ""),
                message(revision));
    }

    private static NodeHealthState message(long revision) {
        return NodeHealthState.newBuilder().setVerdictRevision(revision).build();
    }

    private static ProducerRecord<String, byte[]> json(ProducerRecord<String, byte[]> binary) {
        try {
            var state = NodeHealthState.parseFrom(binary.value());
            var headers = binary.headers();
            headers.remove("content-type").add("content-type", "application/json".getBytes(UTF_8));
            return new ProducerRecord<>(binary.topic(), null, binary.key(), Codec.toJson(state), headers);
        } catch (com.google.protobuf.InvalidProtocolBufferException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private void append(ProducerRecord<String, byte[]> rec) {
        broker.append(RecordKeyConverter.withByteKey(rec));
    }

    private Map<String, Long> restored(int nodes) {
        return restored(nodes, new CountingProjection());
    }

    /** A standby that has read the changelog. */
    private Map<String, Long> restored(int nodes, CountingProjection projection) {
        SimulatedReplica<NodeHealthState> replica = SimulatedReplica.of(
                new SimulatedReplica.Shared<>(broker, codec, fold, random),
                "health-service-0",
                time.clock(() -> Duration.ZERO),
                new Link(random),
                projection,
                Actor.none());
        var thread = new Lockstep("health-service-0", replica::run);
        for (int step = 0; step < 400; step++) {
            time.advance(Duration.ofMillis(50));
            thread.step();
        }
        thread.kill();
        Map<String, Long> restored = new TreeMap<>();
        replica.states().forEach((node, state) -> restored.put(node, state.getVerdictRevision()));
        assertThat(restored).hasSize(nodes);
        return restored;
    }
}
