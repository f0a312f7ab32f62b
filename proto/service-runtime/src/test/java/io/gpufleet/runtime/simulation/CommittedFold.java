package io.gpufleet.runtime.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.sequence.AppliedSequencesField;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What the log must hold: the events of each writer about a node, in order, each folded once. Every committed transaction
 * is compared with it, record by record.
 */
public final class CommittedFold<S> implements States<S> {
    private static final Set<EventType> HOUSEKEEPING = Set.of(
            EventType.OFFSETS_COMMITTED,
            EventType.ACTIVE_CHANGED,
            EventType.WRITER_STARTED,
            EventType.DEADLETTER_REPLAYED);

    private final Projection<S> projection;
    private final Codec codec;
    private final AppliedSequencesField applied;
    private final Map<String, S> states = new HashMap<>();
    private final Map<String, List<String>> produced = new HashMap<>();
    private final Map<String, Integer> folded = new HashMap<>();
    private final Set<String> withoutEffect = new HashSet<>();
    private final Set<String> deadLetters = new HashSet<>();
    private int unreadable;
    private boolean ticksOfReplicas;

    /** An empty fold by a projection of its own. */
    public CommittedFold(Projection<S> projection, Codec codec) {
        this.projection = projection;
        this.codec = codec;
        this.applied = new AppliedSequencesField(projection.spec().stateType().prototype());
    }

    /** Ticks depend on what one process remembers, heartbeats for example: their effects are taken as they were. */
    public void takeTicksOfReplicas() {
        ticksOfReplicas = true;
    }

    /** A writer has written an event about a key, for the first time or again. */
    public void produced(String key, EventId id) {
        List<String> all = produced.computeIfAbsent(stream(key, id), _ -> new ArrayList<>());
        if (!all.contains(id.toString())) {
            all.add(id.toString());
        }
    }

    /** Somebody has written a record that is no event. */
    public void unreadable() {
        unreadable++;
    }

    private static String stream(String key, EventId id) {
        return key + " " + id.topic() + " " + id.writer();
    }

    /** A replica has committed a transaction, for these calls of its projection. */
    public void committed(List<RecordedProjection.Call<S>> calls, List<ConsumerRecord<byte[], byte[]>> records) {
        List<Outbound> outputs = new ArrayList<>();
        Set<String> touched = new HashSet<>();
        for (RecordedProjection.Call<S> call : calls) {
            Effects<S> effects = call.input()
                    .map(input -> projection.on(this, input, call.now()))
                    .orElseGet(() -> ticksOfReplicas ? call.effects() : projection.tick(call.key(), this, call.now()));
            call.input().ifPresent(input -> fold(input, effects));
            states.keySet().removeAll(effects.forgotten());
            states.putAll(effects.states());
            touched.addAll(effects.forgotten());
            touched.addAll(effects.states().keySet());
            outputs.addAll(effects.outputs());
        }
        check(outputs, touched, records);
    }

    private void fold(Inbound input, Effects<S> effects) {
        if (!(input instanceof Inbound.Event event)) {
            return;
        }
        EventId id = event.envelope().id();
        String stream = stream(event.key(), id);
        List<String> all = produced.getOrDefault(stream, List.of());
        int next = folded.getOrDefault(stream, 0);
        int index = all.indexOf(id.toString());
        if (index < next) {
            // One that changed nothing is not remembered over a restart: it counts as if it came now, once.
            assertThat(withoutEffect)
                    .as("%s is folded again, into %s", id, effects)
                    .contains(id.toString());
            if (!effects.isEmpty()) {
                withoutEffect.remove(id.toString());
            }
            return;
        }
        // Of a compacted topic a reader is owed the latest record only.
        if (!id.topic().compacted()) {
            assertThat(index)
                    .as("%s is folded before %s: a fact is lost", id, all.get(next))
                    .isEqualTo(next);
        }
        folded.put(stream, index + 1);
        if (effects.isEmpty()) {
            withoutEffect.add(id.toString());
        }
    }

    private void check(List<Outbound> outputs, Set<String> touched, List<ConsumerRecord<byte[], byte[]>> records) {
        List<Outbound> missing = new ArrayList<>(outputs);
        Topic changelog = projection.spec().changelog();
        for (ConsumerRecord<byte[], byte[]> rec : records) {
            if (rec.topic().equals(codec.topics().name(Topic.DEADLETTER))) {
                checkDeadLetter(rec);
                continue;
            }
            DecodedRecord decoded = codec.decodeState(RecordKeyConverter.withTextKey(rec));
            boolean state = rec.topic().equals(codec.topics().name(changelog));
            switch (decoded) {
                case DecodedRecord.Event event
                when HOUSEKEEPING.contains(event.envelope().type()) -> {}
                case DecodedRecord.Event event
                when state -> {
                    String key = event.envelope().key();
                    S written = projection.read(key, applied.without(event.payload()));
                    assertThat(Optional.of(written)).as("state of %s", key).isEqualTo(get(key));
                    touched.remove(key);
                }
                case DecodedRecord.Event event ->
                    checkOutput(missing, event.envelope().key(), event.payload());
                case DecodedRecord.Tombstone(String key, var _)
                when state -> {
                    assertThat(get(key)).isEmpty();
                    touched.remove(key);
                }
                case DecodedRecord.Tombstone(String key, var _) -> checkTombstone(missing, key);
                case DecodedRecord.UnknownType unknown -> throw new AssertionError(unknown);
                case DecodedRecord.Poison(String reason) -> throw new AssertionError(reason);
            }
        }
        assertThat(missing).as("outputs that were not written").isEmpty();
        assertThat(touched).as("states that were not written").isEmpty();
    }

    private void checkDeadLetter(ConsumerRecord<byte[], byte[]> letter) {
        String position = Stream.of("dlq.topic", "dlq.partition", "dlq.offset")
                .map(name -> new String(letter.headers().lastHeader(name).value(), UTF_8))
                .collect(Collectors.joining("/"));
        assertThat(deadLetters.add(position))
                .as("dead letter of %s is written again", position)
                .isTrue();
    }

    private static void checkOutput(List<Outbound> missing, String key, Message payload) {
        assertThat(missing).as("output for %s that no event caused", key).isNotEmpty();
        assertThat(missing.removeFirst()).isInstanceOfSatisfying(Outbound.Event.class, expected -> {
            assertThat(expected.key()).isEqualTo(key);
            assertThat(expected.payload()).isEqualTo(payload);
        });
    }

    private static void checkTombstone(List<Outbound> missing, String key) {
        assertThat(missing).isNotEmpty();
        assertThat(missing.removeFirst()).isInstanceOf(Outbound.Tombstone.class);
    }

    /** A replica begins a term with these states. */
    public void assertSameAs(States<S> restored) {
        Map<String, S> found = new HashMap<>();
        restored.forEach(found::put);
        assertThat(found).as("states after a restart").isEqualTo(states);
    }

    /** True when every event that was written is in the states, and every other record in the dead letters. */
    public boolean nothingLeft() {
        return deadLetters.size() == unreadable
                && produced.entrySet().stream()
                        .allMatch(stream -> folded.getOrDefault(stream.getKey(), 0)
                                == stream.getValue().size());
    }

    @Override
    public Optional<S> get(String key) {
        return Optional.ofNullable(states.get(key));
    }

    @Override
    public int size() {
        return states.size();
    }

    @Override
    public void forEach(BiConsumer<String, S> each) {
        states.forEach(each);
    }
}
