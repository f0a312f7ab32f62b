package io.gpufleet.runtime.sequence;

import io.gpufleet.proto.bus.v1.AppliedSequence;
import io.gpufleet.proto.bus.v1.AppliedSequences;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Events that the state of one key already contains: the newest event applied for each (topic, writer). */
public final class KeySequences {
    private static final int MAX_BOOTS = 8;
    /** Topics of a node, and services that write about it; a state must stay small enough to be written. */
    private static final int MAX_STREAMS = 64;

    private static final LastOfStream[] NONE = {};

    /** Newest applied event of one topic and writer. */
    private record LastOfStream(String topic, String source, LastApplied last) {
        boolean service() {
            return source.contains("/services/");
        }

        LastOfStream with(LastApplied newer) {
            return new LastOfStream(topic, source, newer);
        }
    }

    /**
     * The newest applied event. Boots are those seen on this topic, the current one last; those of
     * other topics are not considered, because there is no order between topics.
     */
    private record LastApplied(long epoch, long sequence, List<String> boots, long formerEpoch, long formerSequence) {
        String currentBoot() {
            return boots.isEmpty() ? "" : boots.getLast();
        }

        LastApplied advance(EventId id, String boot) {
            List<String> all = boots;
            if (!boot.isEmpty() && !boot.equals(currentBoot())) {
                all = new ArrayList<>(boots);
                all.add(boot);
            }
            return id.epoch() == epoch && all == boots
                    ? new LastApplied(epoch, id.sequence(), all, formerEpoch, formerSequence)
                    : new LastApplied(id.epoch(), id.sequence(), all, epoch, sequence);
        }
    }

    /** Oldest first; few. Replaced when it changes, as the boots are, so that a copy shares them. */
    private LastOfStream[] streams = NONE;

    private List<String> boots = List.of();
    private long missed;

    /** Decides whether an event is fresh, and records it if so; {@code boot} is empty for a service. */
    DedupeResult deduplicate(EventSource source, EventId id, String boot) {
        String writer = source.toString();
        int index = indexOf(id.topic().suffix(), writer);
        if (index < 0) {
            forgetBeyondLimit();
            add(new LastOfStream(
                    id.topic().suffix(),
                    writer,
                    new LastApplied(id.epoch(), id.sequence(), boot.isEmpty() ? List.of() : List.of(boot), 0, 0)));
            addBoot(boot);
            return new DedupeResult(true, false, 0);
        }
        LastApplied last = streams[index].last();
        boolean otherBoot = !boot.isEmpty() && !boot.equals(last.currentBoot());
        boolean formerBoot = otherBoot && last.boots().contains(boot);
        boolean later = id.epoch() > last.epoch() || id.epoch() == last.epoch() && id.sequence() > last.sequence();
        if (formerBoot || !later && !otherBoot) {
            return DedupeResult.STALE;
        }
        boolean newMachine = otherBoot && id.epoch() <= last.epoch() && !boots.contains(boot);
        replace(index, last.advance(id, boot));
        addBoot(boot);
        // A service numbers its events across all keys, so that a gap within one key proves no loss.
        long gap = source instanceof EventSource.Service
                ? 0
                : id.epoch() == last.epoch() && !otherBoot ? id.sequence() - last.sequence() - 1 : id.sequence() - 1;
        missed += gap;
        return new DedupeResult(true, newMachine, gap);
    }

    /**
     * Records the losses that a writer reported and returns the number of those not counted as a gap before. A loss
     * within the current epoch is a gap in the sequence; a loss at the end of a former epoch is not.
     */
    long recordLoss(EventSource source, Topic topic, long epoch, long from, long to) {
        int index = indexOf(topic.suffix(), source.toString());
        if (index < 0) {
            return 0;
        }
        LastApplied last = streams[index].last();
        if (epoch >= last.epoch() || epoch < last.formerEpoch() || to < from || from < 1) {
            return 0;
        }
        long known = epoch == last.formerEpoch() ? last.formerSequence() : 0;
        long uncounted = Math.max(0, to - Math.max(from - 1, known));
        replace(index, new LastApplied(last.epoch(), last.sequence(), last.boots(), epoch, Math.max(known, to)));
        missed += uncounted;
        return uncounted;
    }

    private int indexOf(String topic, String writer) {
        for (int i = 0; i < streams.length; i++) {
            if (streams[i].topic().equals(topic) && streams[i].source().equals(writer)) {
                return i;
            }
        }
        return -1;
    }

    private void add(LastOfStream stream) {
        LastOfStream[] more = Arrays.copyOf(streams, streams.length + 1);
        more[streams.length] = stream;
        streams = more;
    }

    private void replace(int index, LastApplied newer) {
        LastOfStream[] changed = streams.clone();
        changed[index] = changed[index].with(newer);
        streams = changed;
    }

    /** A service that is forgotten counts as met for the first time; the node's own topics never are. */
    private void forgetBeyondLimit() {
        if (streams.length < MAX_STREAMS) {
            return;
        }
        List<LastOfStream> kept = new ArrayList<>(List.of(streams));
        var oldest = kept.iterator();
        for (int size = kept.size(); size >= MAX_STREAMS && oldest.hasNext(); ) {
            if (oldest.next().service()) {
                oldest.remove();
                size--;
            }
        }
        streams = kept.toArray(NONE);
    }

    private void addBoot(String boot) {
        if (boot.isEmpty() || boots.contains(boot)) {
            return;
        }
        List<String> more = new ArrayList<>(boots);
        more.add(boot);
        if (more.size() > MAX_BOOTS) {
            String oldest = more.removeFirst();
            streams = Arrays.stream(streams)
                    .map(stream -> stream.last().boots().contains(oldest)
                            ? stream.with(withoutBoot(stream.last(), oldest))
                            : stream)
                    .toArray(LastOfStream[]::new);
        }
        boots = List.copyOf(more);
    }

    private static LastApplied withoutBoot(LastApplied last, String boot) {
        List<String> rest =
                last.boots().stream().filter(other -> !other.equals(boot)).toList();
        return new LastApplied(last.epoch(), last.sequence(), rest, last.formerEpoch(), last.formerSequence());
    }

    /** A copy that is independent of this. */
    public KeySequences copy() {
        var copy = new KeySequences();
        copy.streams = streams;
        copy.boots = boots;
        copy.missed = missed;
        return copy;
    }

    AppliedSequences toMessage() {
        var message = AppliedSequences.newBuilder().addAllBootIds(boots).setMissed(missed);
        for (LastOfStream stream : streams) {
            LastApplied last = stream.last();
            var written = AppliedSequence.newBuilder()
                    .setTopic(stream.topic())
                    .setSource(stream.source())
                    .setEpoch(last.epoch())
                    .setSequence(last.sequence())
                    .setFormerEpoch(last.formerEpoch())
                    .setFormerSequence(last.formerSequence());
            last.boots().forEach(boot -> written.addBootIndexes(boots.indexOf(boot)));
            message.addSequences(written);
        }
        return message.build();
    }

    /** Loads the applied sequences of a changelog record. */
    static KeySequences of(AppliedSequences message) {
        var sequences = new KeySequences();
        sequences.boots = List.copyOf(message.getBootIdsList());
        sequences.missed = message.getMissed();
        for (AppliedSequence last : message.getSequencesList()) {
            List<String> seen = last.getBootIndexesList().stream()
                    .filter(index -> index >= 0 && index < sequences.boots.size())
                    .map(sequences.boots::get)
                    .toList();
            var loaded = new LastApplied(
                    last.getEpoch(), last.getSequence(), seen, last.getFormerEpoch(), last.getFormerSequence());
            int index = sequences.indexOf(last.getTopic(), last.getSource());
            if (index < 0) {
                sequences.add(new LastOfStream(last.getTopic(), last.getSource(), loaded));
            } else {
                sequences.replace(index, loaded);
            }
        }
        return sequences;
    }
}
