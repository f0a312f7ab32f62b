package io.gpufleet.runtime.sequence;

import io.gpufleet.proto.bus.v1.WriterSequence;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Sequences of service writers that were read, across all keys of a topic. A service numbers its events over all
 * partitions, which have no order among each other: a number that is missing counts as lost only after every partition
 * was read to its end for longer than a producer tries. Kept with the offsets, so that both are of the same records.
 */
public final class WriterSequences {
    private static final int MAX_LATER = 1000;
    /** Several times the replicas of all services, each with two incarnations on each topic. */
    private static final int MAX_STREAMS = 100;

    private record Stream(String topic, String source, long epoch) {}

    /** Events that never arrived. */
    public record Gap(String topic, String source, long epoch, long from, long to) {
        /** Their number. */
        public long missed() {
            return to - from + 1;
        }
    }

    /** Events read of one stream: everything up to a sequence, and single ones after it. */
    private static final class Read {
        private long upTo;
        private final TreeSet<Long> later = new TreeSet<>();
        private @Nullable Instant waitingSince;

        private Read(long upTo) {
            this.upTo = upTo;
        }

        private void add(long sequence) {
            if (sequence > upTo) {
                later.add(sequence);
                advance();
            }
        }

        private void advance() {
            while (!later.isEmpty() && later.first() == upTo + 1) {
                upTo = later.removeFirst();
                waitingSince = null;
            }
        }
    }

    private final Map<Stream, Read> read = new LinkedHashMap<>();

    /** An event was read; one of a node, or of a compacted topic, which loses events by itself, is passed over. */
    public void read(EventSource source, EventId id) {
        if (source instanceof EventSource.Node || id.topic().compacted()) {
            return;
        }
        var stream = new Stream(id.topic().suffix(), source.toString(), id.epoch());
        Read known = read.get(stream);
        if (known == null) {
            known = new Read(isSuccessor(stream) ? 0 : id.sequence() - 1);
            read.put(stream, known);
            forgetBeyondLimit();
        }
        known.add(id.sequence());
    }

    /** The record of the changelog stays small: a writer that is forgotten counts as met for the first time. */
    private void forgetBeyondLimit() {
        var oldest = read.keySet().iterator();
        while (read.size() > MAX_STREAMS) {
            oldest.next();
            oldest.remove();
        }
    }

    /** Of a writer that is met for the first time the beginning may be older than the log. */
    private boolean isSuccessor(Stream stream) {
        List<Stream> others = sameWriter(stream);
        return !others.isEmpty() && others.stream().allMatch(other -> other.epoch() < stream.epoch());
    }

    private List<Stream> sameWriter(Stream stream) {
        return read.keySet().stream()
                .filter(other -> other.topic().equals(stream.topic())
                        && other.source().equals(stream.source())
                        && other.epoch() != stream.epoch())
                .toList();
    }

    /**
     * Gaps that nothing fills any more; each is found once.
     *
     * @param caughtUp whether every partition is read to its end now
     */
    public List<Gap> gaps(boolean caughtUp, Duration wait, Instant now) {
        List<Gap> gaps = new ArrayList<>();
        read.forEach((stream, state) -> {
            // All at once: a changelog with more of them than a payload may have ends every replica that reads it.
            // What other partitions still have is no gap.
            while (state.later.size() > MAX_LATER) {
                Gap passed = passOver(stream, state);
                if (caughtUp) {
                    gaps.add(passed);
                }
            }
            if (state.later.isEmpty()) {
                return;
            }
            Instant since = state.waitingSince;
            if (caughtUp && since != null && !now.isBefore(since.plus(wait))) {
                gaps.add(passOver(stream, state));
            } else if (!caughtUp || since == null) {
                state.waitingSince = caughtUp ? now : null;
            }
        });
        forgetFormer();
        return gaps;
    }

    private static Gap passOver(Stream stream, Read state) {
        long next = state.later.getFirst();
        var gap = new Gap(stream.topic(), stream.source(), stream.epoch(), state.upTo + 1, next - 1);
        state.upTo = next - 1;
        state.advance();
        return gap;
    }

    /** An incarnation that is over and complete reveals nothing any more, beside the newest two. */
    private void forgetFormer() {
        read.entrySet()
                .removeIf(entry -> entry.getValue().later.isEmpty()
                        && sameWriter(entry.getKey()).stream()
                                        .filter(other ->
                                                other.epoch() > entry.getKey().epoch())
                                        .count()
                                > 1);
    }

    /** The entries of the changelog. */
    public List<WriterSequence> toMessages() {
        List<WriterSequence> messages = new ArrayList<>();
        read.forEach((stream, state) -> messages.add(WriterSequence.newBuilder()
                .setTopic(stream.topic())
                .setSource(stream.source())
                .setEpoch(stream.epoch())
                .setSequence(state.upTo)
                .addAllLater(state.later)
                .build()));
        return messages;
    }

    /** Replaces what is known by the entries of the changelog. */
    public void load(List<WriterSequence> messages) {
        read.clear();
        for (WriterSequence message : messages) {
            var state = new Read(message.getSequence());
            state.later.addAll(message.getLaterList());
            read.put(new Stream(message.getTopic(), message.getSource(), message.getEpoch()), state);
        }
    }
}
