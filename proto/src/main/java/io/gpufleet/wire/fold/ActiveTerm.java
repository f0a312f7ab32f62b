package io.gpufleet.wire.fold;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.wire.Decoded;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Stamp;
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
 * One term of an active replica, from fencing its predecessor to its last commit. Any exception ends it: the state in
 * memory may then be ahead of the log and has to be restored anew.
 */
final class ActiveTerm implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long TICK_NANOS = Duration.ofMillis(250).toNanos();
    private static final long POSITIONS_NANOS = Duration.ofSeconds(1).toNanos();

    private final FoldParts parts;
    private final Tally tally;
    private final Marks marks;
    private final InputPositions positions;
    private final Producer<byte[], byte[]> writer;
    private final Consumer<byte[], byte[]> inputs;
    private final Stamp stamp;
    private final Receiving receiving;
    private long lastTick;
    private boolean inGoodOrder;
    private long lastPositions;

    private ActiveTerm(FoldParts parts, Tally tally, Changelog changelog, Producer<byte[], byte[]> writer) {
        this.parts = parts;
        this.tally = tally;
        this.marks = changelog.marks();
        this.positions = changelog.positions();
        this.writer = writer;
        this.inputs = parts.reader("inputs");
        var source =
                new Source.Service(parts.codec().cluster(), parts.settings().instance());
        long epoch = Math.max(parts.clock().millis(), changelog.newestEpoch() + 1);
        this.stamp = new Stamp(parts.codec(), source, epoch, parts.clock());
        this.receiving = new Receiving(parts, marks);
    }

    /** Fences the old active replica, reads its changelog to the end, and says on the log who is active now. */
    static ActiveTerm begin(FoldParts parts, Tally tally, Changelog changelog, BooleanSupplier stop) {
        Producer<byte[], byte[]> writer = parts.writer();
        try {
            writer.initTransactions();
            changelog.catchUp(stop);
            var term = new ActiveTerm(parts, tally, changelog, writer);
            term.assignInputs();
            term.announce();
            return term;
        } catch (RuntimeException failed) {
            writer.close(Duration.ZERO);
            throw failed;
        }
    }

    private void assignInputs() {
        Topics topics = parts.codec().topics();
        List<TopicPartition> all = new ArrayList<>();
        parts.folder().inputs().forEach(topic -> all.addAll(Changelog.partitions(topics, topic)));
        parts.folder().undecoded().stream()
                .filter(topic -> !parts.folder().inputs().contains(topic))
                .forEach(topic -> all.addAll(Changelog.partitions(topics, topic)));
        inputs.assign(all);
        inputs.seekToBeginning(all);
        all.forEach(partition -> positions.of(partition).ifPresent(offset -> inputs.seek(partition, offset)));
    }

    private void announce() {
        Instant now = parts.clock().instant();
        writer.beginTransaction();
        own(EventType.ACTIVE_CHANGED, Changelog.ACTIVE, replica(now), now);
        writer.commitTransaction();
    }

    private ActiveReplica replica(Instant now) {
        return ActiveReplica.newBuilder()
                .setInstance(parts.settings().instance())
                .setGrpcAddress(parts.settings().grpcAddress())
                .setSince(
                        Timestamp.newBuilder().setSeconds(now.getEpochSecond()).setNanos(now.getNano()))
                .build();
    }

    /** Folds until told to stop, then keeps the positions. */
    void run(BooleanSupplier stop) {
        lastTick = System.nanoTime();
        lastPositions = lastTick;
        while (!stop.getAsBoolean()) {
            var batch = new Batch(parts.folder().changelog());
            var records = inputs.poll(POLL);
            Instant now = parts.clock().instant();
            for (ConsumerRecord<byte[], byte[]> rec : records) {
                receiving.receive(rec, now, batch);
                positions.read(rec.topic(), rec.partition(), rec.offset());
            }
            if (System.nanoTime() - lastTick >= TICK_NANOS) {
                batch.ofTime(parts.folder().tick(now));
                lastTick = System.nanoTime();
            }
            boolean due = System.nanoTime() - lastPositions >= POSITIONS_NANOS;
            commit(batch, now, positions.changed() && (due || batch.needsPositions()));
        }
        commit(new Batch(parts.folder().changelog()), parts.clock().instant(), positions.changed());
        inGoodOrder = true;
    }

    private void commit(Batch batch, Instant now, boolean withPositions) {
        if (batch.empty() && !withPositions) {
            tally.add(batch.count);
            return;
        }
        writer.beginTransaction();
        batch.written().forEach(this::write);
        batch.deadLetters().forEach(writer::send);
        if (withPositions) {
            own(EventType.POSITIONS_KEPT, Changelog.POSITIONS, positions.toMessage(), now);
        }
        writer.commitTransaction();
        tally.commits.incrementAndGet();
        if (withPositions) {
            lastPositions = System.nanoTime();
            measureLag();
        }
        if (!batch.outputs().isEmpty()) {
            parts.folder().committed(List.copyOf(batch.outputs()));
        }
        // Only now: what is counted can be read by anybody.
        tally.add(batch.count);
    }

    private void write(Outbound output) {
        switch (output) {
            case Outbound.Event event -> {
                boolean state = event.topic() == parts.folder().changelog();
                Outbound.Event marked = state ? event.with(marks.mark(event.key(), event.payload())) : event;
                writer.send(Records.writable(stamp.next(marked)));
            }
            case Outbound.Tombstone(Topic topic, String key) -> {
                if (topic == parts.folder().changelog()) {
                    marks.forget(key);
                }
                writer.send(Records.writable(parts.codec().tombstone(topic, key)));
            }
        }
    }

    private void own(EventType type, String key, Message payload, Instant now) {
        writer.send(
                Records.writable(stamp.next(Outbound.Event.of(parts.folder().changelog(), type, key, payload, now))));
    }

    private void measureLag() {
        tally.lag.set(inputs.assignment().stream()
                .mapToLong(partition -> inputs.currentLag(partition).orElse(0))
                .sum());
    }

    @Override
    public void close() {
        tally.lag.set(0);
        // After trouble nothing is tried again: the next term's fencing clears what is open.
        writer.close(inGoodOrder ? Duration.ofSeconds(2) : Duration.ZERO);
        inputs.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }

    /** Which decoded event of an input is for the engine of another service and not for a fold. */
    static boolean housekeeping(Decoded.Event event) {
        return event.envelope().type() == EventType.POSITIONS_KEPT
                || event.envelope().type() == EventType.ACTIVE_CHANGED;
    }
}
