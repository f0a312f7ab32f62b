package io.gpufleet.wire.projection;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventSequencer;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/**
 * One term of an active replica, from fencing its predecessor to its last commit. Any exception ends it; the state in
 * memory may then be ahead of the log and must be restored from the changelog.
 */
final class ActiveTerm implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long TICK_NANOS = Duration.ofMillis(250).toNanos();
    private static final long OFFSET_COMMIT_NANOS = Duration.ofSeconds(1).toNanos();

    private final ProjectionContext context;
    private final AtomicCounters counters;
    private final AppliedSequencesByKey sequences;
    private final InputOffsets offsets;
    private final Producer<byte[], byte[]> producer;
    private final Consumer<byte[], byte[]> inputs;
    private final EventSequencer sequencer;
    private final RecordProcessor processor;
    private long lastTick;
    private boolean closedCleanly;
    private long lastOffsetCommit;

    private ActiveTerm(
            ProjectionContext context,
            AtomicCounters counters,
            Changelog changelog,
            Producer<byte[], byte[]> producer) {
        this.context = context;
        this.counters = counters;
        this.sequences = changelog.sequences();
        this.offsets = changelog.offsets();
        this.producer = producer;
        this.inputs = context.consumer("inputs");
        var source = new EventSource.Service(
                context.codec().cluster(), context.settings().instance());
        long epoch = Math.max(context.clock().millis(), changelog.newestEpoch() + 1);
        this.sequencer = new EventSequencer(context.codec(), source, epoch, context.clock());
        this.processor = new RecordProcessor(context, sequences);
    }

    /**
     * Fences the previous active replica, reads its changelog to the end, and writes the record of the active replica.
     */
    static ActiveTerm begin(
            ProjectionContext context, AtomicCounters counters, Changelog changelog, BooleanSupplier stop) {
        Producer<byte[], byte[]> producer = context.producer();
        try {
            producer.initTransactions();
            changelog.catchUp(stop);
            var term = new ActiveTerm(context, counters, changelog, producer);
            term.assignInputs();
            term.announce();
            return term;
        } catch (RuntimeException failed) {
            producer.close(Duration.ZERO);
            throw failed;
        }
    }

    private void assignInputs() {
        Topics topics = context.codec().topics();
        List<TopicPartition> all = new ArrayList<>();
        context.projection().inputs().forEach(topic -> all.addAll(Changelog.partitions(topics, topic)));
        context.projection().heartbeatTopics().stream()
                .filter(topic -> !context.projection().inputs().contains(topic))
                .forEach(topic -> all.addAll(Changelog.partitions(topics, topic)));
        inputs.assign(all);
        inputs.seekToBeginning(all);
        all.forEach(partition -> offsets.nextOffset(partition).ifPresent(offset -> inputs.seek(partition, offset)));
    }

    private void announce() {
        Instant now = context.clock().instant();
        producer.beginTransaction();
        writeEngineRecord(EventType.ACTIVE_CHANGED, Changelog.ACTIVE, replica(now), now);
        producer.commitTransaction();
    }

    private ActiveReplica replica(Instant now) {
        return ActiveReplica.newBuilder()
                .setInstance(context.settings().instance())
                .setGrpcAddress(context.settings().grpcAddress())
                .setSince(
                        Timestamp.newBuilder().setSeconds(now.getEpochSecond()).setNanos(now.getNano()))
                .build();
    }

    /** Applies events until {@code stop} is true, then commits the offsets. */
    void run(BooleanSupplier stop) {
        lastTick = System.nanoTime();
        lastOffsetCommit = lastTick;
        while (!stop.getAsBoolean()) {
            var batch = new Batch(context.projection().changelog());
            var records = inputs.poll(POLL);
            Instant now = context.clock().instant();
            for (ConsumerRecord<byte[], byte[]> rec : records) {
                processor.process(rec, now, batch);
                offsets.advance(rec.topic(), rec.partition(), rec.offset());
            }
            if (System.nanoTime() - lastTick >= TICK_NANOS) {
                batch.addFromTick(context.projection().tick(now));
                lastTick = System.nanoTime();
            }
            boolean due = System.nanoTime() - lastOffsetCommit >= OFFSET_COMMIT_NANOS;
            commit(batch, now, offsets.changed() && (due || batch.needsOffsets()));
        }
        commit(new Batch(context.projection().changelog()), context.clock().instant(), offsets.changed());
        closedCleanly = true;
    }

    private void commit(Batch batch, Instant now, boolean withOffsets) {
        if (batch.isEmpty() && !withOffsets) {
            counters.add(batch.counters);
            return;
        }
        producer.beginTransaction();
        batch.outputsToWrite().forEach(this::write);
        batch.deadLetters().forEach(producer::send);
        if (withOffsets) {
            writeEngineRecord(EventType.OFFSETS_COMMITTED, Changelog.OFFSETS, offsets.toMessage(), now);
        }
        producer.commitTransaction();
        counters.commits.incrementAndGet();
        if (withOffsets) {
            lastOffsetCommit = System.nanoTime();
            measureLag();
        }
        if (!batch.outputs().isEmpty()) {
            context.projection().committed(List.copyOf(batch.outputs()));
        }
        // After the commit: the counters are public.
        counters.add(batch.counters);
    }

    private void write(Outbound output) {
        switch (output) {
            case Outbound.Event event -> {
                boolean changelog = event.topic() == context.projection().changelog();
                Outbound.Event complete =
                        changelog ? event.withPayload(sequences.withSequences(event.key(), event.payload())) : event;
                producer.send(RecordConverter.withByteKey(sequencer.next(complete)));
            }
            case Outbound.Tombstone(Topic topic, String key) -> {
                if (topic == context.projection().changelog()) {
                    sequences.forget(key);
                }
                producer.send(RecordConverter.withByteKey(context.codec().tombstone(topic, key)));
            }
        }
    }

    private void writeEngineRecord(EventType type, String key, Message payload, Instant now) {
        producer.send(RecordConverter.withByteKey(
                sequencer.next(Outbound.Event.of(context.projection().changelog(), type, key, payload, now))));
    }

    private void measureLag() {
        counters.lag.set(inputs.assignment().stream()
                .mapToLong(partition -> inputs.currentLag(partition).orElse(0))
                .sum());
    }

    @Override
    public void close() {
        counters.lag.set(0);
        // After a failure nothing is retried: the fencing of the next term aborts the open transaction.
        producer.close(closedCleanly ? Duration.ofSeconds(2) : Duration.ZERO);
        inputs.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }

    /** Returns whether an event of an input belongs to the engine of another service and not to the projection. */
    static boolean isEngineRecord(DecodedRecord.Event event) {
        return event.envelope().type() == EventType.OFFSETS_COMMITTED
                || event.envelope().type() == EventType.ACTIVE_CHANGED;
    }
}
