package io.gpufleet.health.kafka.history;

import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Merges partitions by append time, so that the events of a whole fleet come in the order in which a service met them. Keeps a
 * bounded number of records of each partition in memory; passes each event on once.
 */
public final class HistoryMerge {
    private static final Duration POLL = Duration.ofMillis(500);

    /** Of one partition; about two fetches of a consumer with 96 partitions. */
    private static final int MAX_WAITING = 1_000;

    private final KafkaConsumer<String, byte[]> consumer;
    private final Codec codec;
    private final Map<TopicPartition, Source> sources =
            new TreeMap<>(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));

    /** Merges what a consumer reads, which it then assigns and seeks. */
    public HistoryMerge(KafkaConsumer<String, byte[]> consumer, Codec codec) {
        this.consumer = consumer;
        this.codec = codec;
    }

    /** One partition, from where it is read to its end at the beginning of the merge. */
    private static final class Source {
        private final TopicPartition partition;
        private final int order;
        private final long start;
        private final long end;
        private final Deque<ConsumerRecord<String, byte[]>> waiting = new ArrayDeque<>();
        private final Map<Incarnation, Long> passedOn = new HashMap<>();
        private boolean queued;

        private Source(TopicPartition partition, int order, long start, long end) {
            this.partition = partition;
            this.order = order;
            this.start = start;
            this.end = end;
        }

        private long nextAt() {
            return waiting.getFirst().timestamp();
        }

        /** False for an event that was passed on already: a writer may send again, but never in another order. */
        private boolean isNew(EventId id) {
            Long last = passedOn.get(new Incarnation(id.writer(), id.epoch()));
            if (last != null && last >= id.sequence()) {
                return false;
            }
            passedOn.put(new Incarnation(id.writer(), id.epoch()), id.sequence());
            return true;
        }
    }

    private record Incarnation(String writer, long epoch) {}

    /** Passes on every event since an instant; {@code percent} is told how much was read, from 0 to 100. */
    public void read(
            List<TopicPartition> partitions, Instant since, IntConsumer percent, Consumer<Inbound.Event> events) {
        open(partitions, since);
        var next = new PriorityQueue<Source>(
                Comparator.comparingLong(Source::nextAt).thenComparingInt(source -> source.order));
        boolean complete = false;
        while (!complete) {
            complete = fill(next);
            percent.accept(percent());
            // Without a record of every partition that has more, the next one is not known.
            boolean known = sources.values().stream().noneMatch(this::isMissing);
            while (!next.isEmpty() && known) {
                Source source = next.remove();
                source.queued = false;
                pass(source, events);
                enqueue(source, next);
                known = !isMissing(source);
            }
        }
        percent.accept(100);
    }

    /** Passes on what is appended after {@link #read}, as it comes, until {@code goOn}, asked after each poll, is false. */
    public void follow(Consumer<Inbound.Event> events, BooleanSupplier goOn) {
        consumer.resume(consumer.paused());
        sources.values().forEach(source -> consumer.seek(source.partition, source.end));
        do {
            for (ConsumerRecord<String, byte[]> rec : consumer.poll(POLL)) {
                Source source = sources.get(new TopicPartition(rec.topic(), rec.partition()));
                if (source != null) {
                    source.waiting.addLast(rec);
                    pass(source, events);
                }
            }
        } while (goOn.getAsBoolean());
    }

    private void open(List<TopicPartition> partitions, Instant since) {
        consumer.assign(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        var begins = consumer.offsetsForTimes(
                partitions.stream().collect(Collectors.toMap(each -> each, _ -> since.toEpochMilli())));
        for (TopicPartition partition : partitions) {
            long end = ends.getOrDefault(partition, 0L);
            var found = begins.get(partition);
            long start = found == null ? end : Math.min(found.offset(), end);
            consumer.seek(partition, start);
            sources.put(partition, new Source(partition, sources.size(), start, end));
        }
    }

    /** Reads on; true once every partition was read to its end. */
    private boolean fill(PriorityQueue<Source> next) {
        List<TopicPartition> full = sources.values().stream()
                .filter(source -> source.waiting.size() >= MAX_WAITING || !hasMore(source))
                .map(source -> source.partition)
                .toList();
        consumer.resume(consumer.paused());
        consumer.pause(full);
        if (full.size() < sources.size()) {
            for (ConsumerRecord<String, byte[]> rec : consumer.poll(POLL)) {
                Source source = sources.get(new TopicPartition(rec.topic(), rec.partition()));
                if (source != null && rec.offset() < source.end) {
                    source.waiting.addLast(rec);
                    enqueue(source, next);
                }
            }
        }
        return sources.values().stream().noneMatch(this::hasMore);
    }

    private boolean hasMore(Source source) {
        return consumer.position(source.partition) < source.end;
    }

    private boolean isMissing(Source source) {
        return source.waiting.isEmpty() && hasMore(source);
    }

    private static void enqueue(Source source, PriorityQueue<Source> next) {
        if (!source.queued && !source.waiting.isEmpty()) {
            source.queued = true;
            next.add(source);
        }
    }

    private void pass(Source source, Consumer<Inbound.Event> events) {
        if (codec.decode(source.waiting.removeFirst()) instanceof DecodedRecord.Event event
                && source.isNew(event.envelope().id())) {
            events.accept(new Inbound.Event(event.envelope(), event.payload(), event.appendedAt(), false));
        }
    }

    private int percent() {
        long all = 0;
        long read = 0;
        for (Source source : sources.values()) {
            all += source.end - source.start;
            read += Math.min(consumer.position(source.partition), source.end) - source.start - source.waiting.size();
        }
        return all == 0 ? 100 : (int) Math.max(0, 100 * read / all);
    }
}
