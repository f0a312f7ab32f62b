package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.EventTimings;
import io.gpufleet.runtime.projection.EventTimings.Hop;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Outputs of one polled batch beside the states, before they are written. */
final class Batch {
    private final List<Outbound> outputs = new ArrayList<>();
    private final List<ProducerRecord<byte[], byte[]>> deadLetters = new ArrayList<>();
    /** Counts of the batch; they are published once it is committed. */
    final MutableCounters count = new MutableCounters();

    private final Map<String, Instant> replayed = new LinkedHashMap<>();
    private final Map<String, String> traces = new HashMap<>();
    private final long beginNanos = System.nanoTime();
    private final List<FoldedEvent> folded = new ArrayList<>();
    private boolean needsOffsets;

    /** When an event was appended and folded, for the report once it is committed. */
    private record FoldedEvent(Topic topic, Duration toAppended, Duration toFolded, long foldedNanos) {
        private void report(EventTimings timings, long committedNanos) {
            timings.took(topic, Hop.NOTICED_TO_APPENDED, toAppended);
            timings.took(topic, Hop.APPENDED_TO_FOLDED, toFolded);
            timings.took(topic, Hop.FOLDED_TO_COMMITTED, Duration.ofNanos(committedNanos - foldedNanos));
        }
    }

    /**
     * An event is folded.
     *
     * @param now the broker's time when the batch was begun
     */
    void folded(Inbound.Event event, Instant now) {
        long nanos = System.nanoTime();
        Envelope envelope = event.envelope();
        // The writer's own count up to its sending, so that only the way to the broker depends on two clocks.
        Duration sent = notNegative(Duration.between(envelope.recordedTime(), event.appendedAt()));
        Duration waited = Duration.between(event.appendedAt(), now.plusNanos(nanos - beginNanos));
        folded.add(new FoldedEvent(
                envelope.id().topic(), sent.plusMillis(envelope.ageMillis()), notNegative(waited), nanos));
    }

    /** The transaction of the batch has ended. */
    void reportCommitted(EventTimings timings) {
        long nanos = System.nanoTime();
        folded.forEach(event -> event.report(timings, nanos));
    }

    private static Duration notNegative(Duration time) {
        return time.isNegative() ? Duration.ZERO : time;
    }

    /** Effects of an event; its key's sequences tell a second reading that it was applied, if that key is written. */
    void ofEvent(String key, Effects<?> effects) {
        outputs.addAll(effects.outputs());
        needsOffsets |= !effects.isEmpty() && !effects.states().containsKey(key);
    }

    /** Effects of a record without identity: only the offset tells that it was read. */
    void ofUnidentified(Effects<?> effects) {
        outputs.addAll(effects.outputs());
        needsOffsets |= !effects.isEmpty();
    }

    /** The states that these effects change carry the trace of the input on the changelog. */
    void causedBy(Inbound input, Effects<?> effects) {
        if (!input.traceparent().isEmpty()) {
            effects.states().keySet().forEach(key -> traces.put(key, input.traceparent()));
        }
    }

    /** Trace of the last input that changed a state; empty where there is none. */
    String trace(String key) {
        return traces.getOrDefault(key, "");
    }

    /** Effects of the passing of time. */
    void ofTime(Effects<?> effects) {
        outputs.addAll(effects.outputs());
    }

    void dead(ProducerRecord<byte[], byte[]> letter) {
        deadLetters.add(letter);
        count.deadLetters.incrementAndGet();
        needsOffsets = true;
    }

    /** A dead letter was applied after a replay; {@code note} says so in the dead letters. */
    void replayed(String key, Instant at, ProducerRecord<byte[], byte[]> note) {
        replayed.put(key, at);
        deadLetters.add(note);
        count.replayed.incrementAndGet();
        needsOffsets = true;
    }

    Map<String, Instant> replayed() {
        return replayed;
    }

    /** Commits the offsets with this batch, if so. */
    Batch withOffsets(boolean so) {
        needsOffsets |= so;
        return this;
    }

    /** True when offsets belong into the same transaction: it is time for them, or only they keep a second reading from causing it again. */
    boolean needsOffsets() {
        return needsOffsets;
    }

    List<Outbound> outputs() {
        return outputs;
    }

    List<ProducerRecord<byte[], byte[]>> deadLetters() {
        return deadLetters;
    }
}
