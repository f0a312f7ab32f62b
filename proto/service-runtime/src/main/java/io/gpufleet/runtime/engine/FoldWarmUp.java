package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.record.InputDecoder;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.record.TimestampType;

/**
 * Decodes, folds and encodes the samples of a projection over states of their own, so that the virtual machine has loaded
 * and compiled that code when the first input comes. Nothing is written.
 */
final class FoldWarmUp<S> {
    private static final int MAX_ROUNDS = 200;
    /** A standby waits longer for its election. */
    private static final Duration MAX_TIME = Duration.ofMillis(500);

    private final EngineParts<S> parts;
    private final InputDecoder decoder;
    private final BatchEncoder<S> encoder;

    private FoldWarmUp(EngineParts<S> parts) {
        this.parts = parts;
        this.decoder = new InputDecoder(parts.codec(), parts.spec().heartbeats());
        var source = new EventSource.Service(
                parts.codec().cluster(), parts.settings().instance());
        this.encoder = new BatchEncoder<>(parts, new EventSequencer(parts.codec(), source, 1, parts.clock()));
    }

    /**
     * Returns the number of records that would have been written. Once the replica is elected one round is all: that loads the
     * code, as the first input would, and the rounds after it would only let the input wait.
     */
    static <S> int run(EngineParts<S> parts, BooleanSupplier elected) {
        Instant now = parts.clock().instant();
        List<Inbound.Event> samples = parts.projection().samples(now);
        var warmUp = new FoldWarmUp<>(parts);
        long end = System.nanoTime() + MAX_TIME.toNanos();
        int written = 0;
        for (int round = 0; !samples.isEmpty() && round < MAX_ROUNDS && System.nanoTime() < end; round++) {
            written += warmUp.fold(samples, now);
            if (elected.getAsBoolean()) {
                break;
            }
        }
        return written;
    }

    private int fold(List<Inbound.Event> samples, Instant now) {
        var store = new StateStore<>(parts.projection(), new StateStore.Committed<>(StateListener.none()));
        int written = 0;
        for (Inbound.Event sample : samples) {
            var batch = new Batch();
            decoder.decode(List.of(read(sample)));
            Effects<S> effects = parts.projection().on(store, sample, now);
            store.apply(effects);
            batch.ofEvent(sample.key(), effects);
            written += encoder.encode(batch, store, now).size();
            store.commit();
        }
        return written;
    }

    private ConsumerRecord<byte[], byte[]> read(Inbound.Event sample) {
        Envelope envelope = sample.envelope();
        // Events of another cluster are refused before they are decoded.
        var ours = new Envelope(
                envelope.id(),
                new EventSource.Node(parts.codec().cluster(), sample.key()),
                envelope.type(),
                envelope.subject(),
                envelope.key(),
                envelope.eventTime(),
                envelope.traceparent());
        ProducerRecord<byte[], byte[]> rec =
                RecordKeyConverter.withByteKey(parts.codec().encode(ours, sample.payload()));
        return new ConsumerRecord<>(
                rec.topic(),
                0,
                0,
                sample.appendedAt().toEpochMilli(),
                TimestampType.LOG_APPEND_TIME,
                rec.key().length,
                rec.value().length,
                rec.key(),
                rec.value(),
                rec.headers(),
                Optional.empty());
    }
}
