package io.gpufleet.runtime.sequence;

import io.gpufleet.proto.bus.v1.AppliedSequence;
import io.gpufleet.proto.bus.v1.AppliedSequences;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Events that the state of one key already contains: the newest event applied for each (topic, writer). */
public final class KeySequences {
    private static final int MAX_BOOTS = 8;
    /** Topics of a node, and services that write about it; a state must stay small enough to be written. */
    private static final int MAX_STREAMS = 64;

    private record WriterTopic(String topic, String source) {
        boolean service() {
            return source.contains("/services/");
        }
    }

    /**
     * Newest applied event of one topic and writer. Boots are those seen on this topic, the current one last; those of
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

    private final Map<WriterTopic, LastApplied> lastApplied = new LinkedHashMap<>();
    private final List<String> boots = new ArrayList<>();
    private long missed;

    /** Decides whether an event is fresh, and records it if so; {@code boot} is empty for a service. */
    DedupeResult deduplicate(EventSource source, EventId id, String boot) {
        var stream = new WriterTopic(id.topic().suffix(), source.toString());
        LastApplied last = lastApplied.get(stream);
        if (last == null) {
            forgetBeyondLimit();
            lastApplied.put(
                    stream,
                    new LastApplied(id.epoch(), id.sequence(), boot.isEmpty() ? List.of() : List.of(boot), 0, 0));
            addBoot(boot);
            return new DedupeResult(true, false, 0);
        }
        boolean otherBoot = !boot.isEmpty() && !boot.equals(last.currentBoot());
        boolean formerBoot = otherBoot && last.boots().contains(boot);
        boolean later = id.epoch() > last.epoch() || id.epoch() == last.epoch() && id.sequence() > last.sequence();
        if (formerBoot || !later && !otherBoot) {
            return DedupeResult.STALE;
        }
        boolean newMachine = otherBoot && id.epoch() <= last.epoch() && !boots.contains(boot);
        lastApplied.put(stream, last.advance(id, boot));
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
        var stream = new WriterTopic(topic.suffix(), source.toString());
        LastApplied last = lastApplied.get(stream);
        if (last == null || epoch >= last.epoch() || epoch < last.formerEpoch() || to < from || from < 1) {
            return 0;
        }
        long known = epoch == last.formerEpoch() ? last.formerSequence() : 0;
        long uncounted = Math.max(0, to - Math.max(from - 1, known));
        lastApplied.put(
                stream, new LastApplied(last.epoch(), last.sequence(), last.boots(), epoch, Math.max(known, to)));
        missed += uncounted;
        return uncounted;
    }

    /** A service that is forgotten counts as met for the first time; the node's own topics never are. */
    private void forgetBeyondLimit() {
        var oldest = lastApplied.keySet().iterator();
        while (lastApplied.size() >= MAX_STREAMS && oldest.hasNext()) {
            if (oldest.next().service()) {
                oldest.remove();
            }
        }
    }

    private void addBoot(String boot) {
        if (boot.isEmpty() || boots.contains(boot)) {
            return;
        }
        boots.add(boot);
        if (boots.size() > MAX_BOOTS) {
            String oldest = boots.removeFirst();
            lastApplied.replaceAll((_, last) -> last.boots().contains(oldest) ? withoutBoot(last, oldest) : last);
        }
    }

    private static LastApplied withoutBoot(LastApplied last, String boot) {
        List<String> rest =
                last.boots().stream().filter(other -> !other.equals(boot)).toList();
        return new LastApplied(last.epoch(), last.sequence(), rest, last.formerEpoch(), last.formerSequence());
    }

    /** A copy that is independent of this. */
    public KeySequences copy() {
        var copy = new KeySequences();
        copy.lastApplied.putAll(lastApplied);
        copy.boots.addAll(boots);
        copy.missed = missed;
        return copy;
    }

    AppliedSequences toMessage() {
        var message = AppliedSequences.newBuilder().addAllBootIds(boots).setMissed(missed);
        lastApplied.forEach((stream, last) -> message.addSequences(AppliedSequence.newBuilder()
                .setTopic(stream.topic())
                .setSource(stream.source())
                .setEpoch(last.epoch())
                .setSequence(last.sequence())
                .addAllBootIndexes(last.boots().stream().map(boots::indexOf).toList())
                .setFormerEpoch(last.formerEpoch())
                .setFormerSequence(last.formerSequence())));
        return message.build();
    }

    /** Loads the applied sequences of a changelog record. */
    static KeySequences of(AppliedSequences message) {
        var sequences = new KeySequences();
        sequences.boots.addAll(message.getBootIdsList());
        sequences.missed = message.getMissed();
        for (AppliedSequence last : message.getSequencesList()) {
            List<String> seen = last.getBootIndexesList().stream()
                    .filter(index -> index >= 0 && index < sequences.boots.size())
                    .map(sequences.boots::get)
                    .toList();
            sequences.lastApplied.put(
                    new WriterTopic(last.getTopic(), last.getSource()),
                    new LastApplied(
                            last.getEpoch(),
                            last.getSequence(),
                            seen,
                            last.getFormerEpoch(),
                            last.getFormerSequence()));
        }
        return sequences;
    }
}
