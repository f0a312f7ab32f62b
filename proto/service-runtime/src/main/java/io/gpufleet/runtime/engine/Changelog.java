package io.gpufleet.runtime.engine;

import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.proto.bus.v1.CommittedOffsets;
import io.gpufleet.proto.bus.v1.DeadLetterReplayed;
import io.gpufleet.proto.bus.v1.WriterIncarnation;
import io.gpufleet.runtime.record.InputOffsets;
import io.gpufleet.runtime.record.NewestRecords;
import io.gpufleet.runtime.record.ReplayedDeadLetters;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A service's own changelog, read from its beginning into states that start empty. Restoring decides nothing. Keys that
 * begin with {@code @} belong to the engine.
 */
final class Changelog<S> implements AutoCloseable {
    static final String OFFSETS = "@offsets";
    static final String ACTIVE = "@active";
    static final String WRITER = "@writer/";
    /** Header of a state record: schema version of its message. */
    static final String VERSION_HEADER = "ce_stateversion";

    private static final Duration POLL = Duration.ofMillis(50);
    /** Below so many offsets the partitions are read together. */
    private static final long LARGE_LOG = 10_000;

    private static final int PARTITIONS_AT_ONCE = 8;
    private static final long MAX_BUFFERED_BYTES = 32 * 1024 * 1024;

    private final EngineParts<S> parts;
    private final Consumer<byte[], byte[]> reader;
    private final StateStore<S> store;
    private final InputOffsets offsets;
    private final ChangelogDecoder<S> decoder;
    private final ReplayedDeadLetters replayed = new ReplayedDeadLetters();
    private ActiveReplica active = ActiveReplica.getDefaultInstance();
    private long newestIncarnation;
    /** Ends of the partitions when the log was opened. */
    private Map<TopicPartition, Long> openedAt = Map.of();

    private boolean restored;

    private long newestRecordNanos;
    /** A right to read that is missing is noticed before there is anything to read. */
    private boolean polled;

    private long ownWriterIncarnation;

    private Changelog(EngineParts<S> parts, Consumer<byte[], byte[]> reader, StateStore.Committed<S> committed) {
        this.parts = parts;
        this.reader = reader;
        this.store = new StateStore<>(parts.projection(), committed);
        this.offsets = new InputOffsets(parts.codec().topics());
        this.decoder = new ChangelogDecoder<>(parts);
    }

    /** Empties the committed states and stands at the beginning. */
    static <S> Changelog<S> open(EngineParts<S> parts, StateStore.Committed<S> committed) {
        Consumer<byte[], byte[]> reader = parts.clients().reader("changelog");
        try {
            var changelog = new Changelog<>(parts, reader, committed);
            List<TopicPartition> all = parts.partitions(parts.spec().changelog());
            reader.assign(all);
            reader.seekToBeginning(all);
            changelog.openedAt = reader.endOffsets(all);
            changelog.newestRecordNanos = parts.clients().nanos();
            return changelog;
        } catch (RuntimeException unusable) {
            close(reader);
            throw unusable;
        }
    }

    /** Reads up to what is committed now. False when it was told to stop before: states and offsets are older then. */
    boolean catchUp(BooleanSupplier stop) {
        if (!restored && !restore(stop)) {
            return false;
        }
        restored = true;
        Map<TopicPartition, Long> ends = reader.endOffsets(reader.assignment());
        while (!polled || behind(ends.keySet(), ends)) {
            if (stop.getAsBoolean()) {
                return false;
            }
            follow();
        }
        return true;
    }

    private boolean behind(Collection<TopicPartition> partitions, Map<TopicPartition, Long> ends) {
        return partitions.stream().anyMatch(partition -> reader.position(partition) < ends.getOrDefault(partition, 0L));
    }

    /**
     * Reads what was on the log when it was opened, some partitions after the others: what compaction has not removed yet is
     * replaced before it is decoded.
     */
    private boolean restore(BooleanSupplier stop) {
        List<TopicPartition> all = parts.partitions(parts.spec().changelog());
        boolean large = openedAt.values().stream().mapToLong(Long::longValue).sum() > LARGE_LOG;
        int atOnce = large ? PARTITIONS_AT_ONCE : all.size();
        reader.pause(all);
        for (int from = 0; from < all.size(); from += atOnce) {
            List<TopicPartition> some = all.subList(from, Math.min(from + atOnce, all.size()));
            reader.resume(some);
            if (!restore(some, stop)) {
                return false;
            }
            reader.pause(some);
        }
        reader.resume(all);
        store.restored();
        return true;
    }

    private boolean restore(List<TopicPartition> partitions, BooleanSupplier stop) {
        var newest = new NewestRecords();
        while (behind(partitions, openedAt)) {
            if (stop.getAsBoolean()) {
                return false;
            }
            newest.add(poll());
            if (newest.bytes() > MAX_BUFFERED_BYTES) {
                restore(newest.take());
            }
        }
        restore(newest.take());
        return true;
    }

    /** Takes in what was committed meanwhile; waits for it 50 ms. */
    void follow() {
        var newest = new NewestRecords();
        newest.add(poll());
        restore(newest.take());
        store.loaded();
    }

    private ConsumerRecords<byte[], byte[]> poll() {
        polled = true;
        ConsumerRecords<byte[], byte[]> records = reader.poll(POLL);
        if (beyondOpening(records)) {
            newestRecordNanos = parts.clients().nanos();
        }
        return records;
    }

    private void restore(Collection<ConsumerRecord<byte[], byte[]>> records) {
        decoder.decode(records).forEach(this::restore);
    }

    private boolean beyondOpening(ConsumerRecords<byte[], byte[]> records) {
        return records.partitions().stream()
                .anyMatch(partition ->
                        records.records(partition).getLast().offset() >= openedAt.getOrDefault(partition, 0L));
    }

    /**
     * Monotonic time at which the newest record that was read so far was on the log for certain: every leader that was fenced
     * before the end was read has begun its last commit before.
     */
    long newestRecordNanos() {
        return newestRecordNanos;
    }

    private void restore(ChangelogDecoder.Entry<S> entry) {
        switch (entry) {
            case ChangelogDecoder.Entry.State<S> found -> {
                newestIncarnation = Math.max(newestIncarnation, found.incarnation());
                store.load(found.key(), found.state(), found.applied());
            }
            case ChangelogDecoder.Entry.Own<S> own -> {
                newestIncarnation = Math.max(newestIncarnation, own.incarnation());
                restore(own.key(), own.payload());
            }
            case ChangelogDecoder.Entry.GivenUp<S> given
            when given.key().startsWith(ReplayedDeadLetters.KEY) -> replayed.remove(given.key());
            case ChangelogDecoder.Entry.GivenUp<S> given -> store.unload(given.key());
            case ChangelogDecoder.Entry.Unreadable<S>(String line) -> throw new ProjectionStoppedException(line);
        }
    }

    private void restore(String key, Message payload) {
        switch (payload) {
            case CommittedOffsets kept -> offsets.load(kept);
            case ActiveReplica replica -> active = replica;
            case WriterIncarnation writer -> {
                if (key.equals(WRITER + parts.settings().instance())) {
                    ownWriterIncarnation = Math.max(ownWriterIncarnation, writer.getIncarnation());
                }
            }
            case DeadLetterReplayed letter -> replayed.load(key, letter);
            default ->
                throw new ProjectionStoppedException(
                        "own changelog has a " + payload.getDescriptorForType().getFullName() + " under key '" + key
                                + "', which no engine writes");
        }
    }

    StateStore<S> store() {
        return store;
    }

    InputOffsets offsets() {
        return offsets;
    }

    /** Dead letters that were applied after a replay. */
    ReplayedDeadLetters replayed() {
        return replayed;
    }

    /** The newest leader that the log knows; empty where there was none. */
    Optional<ActiveReplica> active() {
        return active.getInstance().isEmpty() ? Optional.empty() : Optional.of(active);
    }

    /** True when another process leads: one that works commits in less than a lease. */
    boolean ledByAnother(EngineContext context, long now) {
        return now - newestRecordNanos < context.lease().durationNanos()
                && active().filter(last -> !last.getResigned() && !last.getRun().equals(context.run()))
                        .isPresent();
    }

    /** The newest incarnation under which a replica wrote here; 0 when none did. */
    long newestIncarnation() {
        return newestIncarnation;
    }

    /** The newest incarnation of this instance's command sender; 0 when there was none. */
    long ownWriterIncarnation() {
        return ownWriterIncarnation;
    }

    @Override
    public void close() {
        close(reader);
    }

    private static void close(Consumer<byte[], byte[]> reader) {
        reader.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }

    /** Keys that the engine keeps for itself. */
    static boolean reserved(@Nullable String key) {
        return key != null && key.startsWith("@");
    }
}
