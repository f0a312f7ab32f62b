package io.gpufleet.wire.fold;

import io.gpufleet.proto.bus.v1.AppliedMark;
import io.gpufleet.proto.bus.v1.AppliedMarks;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one key's state already contains: for each (topic, writer) the newest event applied. */
final class KeyMarks {
    private static final int BOOTS_KEPT = 8;

    private record Stream(String topic, String source) {}

    /**
     * The newest event of a stream. Boots are those seen on this stream, the present one last: there is no order
     * between topics, so that another topic's boots say nothing here.
     */
    private record Mark(long epoch, long sequence, List<String> boots, long formerEpoch, long formerSequence) {
        String boot() {
            return boots.isEmpty() ? "" : boots.getLast();
        }

        Mark follow(EventId id, String boot) {
            List<String> all = boots;
            if (!boot.isEmpty() && !boot.equals(boot())) {
                all = new ArrayList<>(boots);
                all.add(boot);
            }
            return id.epoch() == epoch && all == boots
                    ? new Mark(epoch, id.sequence(), all, formerEpoch, formerSequence)
                    : new Mark(id.epoch(), id.sequence(), all, epoch, sequence);
        }
    }

    private final Map<Stream, Mark> marks = new LinkedHashMap<>();
    private final List<String> boots = new ArrayList<>();
    private long missed;

    /** Judges an event and, when it is fresh, remembers it; {@code boot} is empty where the writer has none. */
    Admission admit(Source source, EventId id, String boot) {
        var stream = new Stream(id.topic().suffix(), source.toString());
        Mark mark = marks.get(stream);
        if (mark == null) {
            marks.put(stream, new Mark(id.epoch(), id.sequence(), boot.isEmpty() ? List.of() : List.of(boot), 0, 0));
            remember(boot);
            return new Admission(true, false, 0);
        }
        boolean otherBoot = !boot.isEmpty() && !boot.equals(mark.boot());
        boolean formerBoot = otherBoot && mark.boots().contains(boot);
        boolean later = id.epoch() > mark.epoch() || id.epoch() == mark.epoch() && id.sequence() > mark.sequence();
        if (formerBoot || !later && !otherBoot) {
            return Admission.STALE;
        }
        boolean newMachine = otherBoot && id.epoch() <= mark.epoch() && !boots.contains(boot);
        marks.put(stream, mark.follow(id, boot));
        remember(boot);
        // Services number over all keys, so that a hole under one key says nothing.
        long hole = source instanceof Source.Service
                ? 0
                : id.epoch() == mark.epoch() && !otherBoot ? id.sequence() - mark.sequence() - 1 : id.sequence() - 1;
        missed += hole;
        return new Admission(true, newMachine, hole);
    }

    /**
     * A writer tells what it had to drop; returns how much of it no hole has shown. Within an epoch the hole shows it;
     * the end of a former epoch shows no hole.
     */
    long lost(Source source, Topic topic, long epoch, long from, long to) {
        var stream = new Stream(topic.suffix(), source.toString());
        Mark mark = marks.get(stream);
        if (mark == null || epoch >= mark.epoch() || epoch < mark.formerEpoch() || to < from || from < 1) {
            return 0;
        }
        long known = epoch == mark.formerEpoch() ? mark.formerSequence() : 0;
        long untold = Math.max(0, to - Math.max(from - 1, known));
        marks.put(stream, new Mark(mark.epoch(), mark.sequence(), mark.boots(), epoch, Math.max(known, to)));
        missed += untold;
        return untold;
    }

    private void remember(String boot) {
        if (boot.isEmpty() || boots.contains(boot)) {
            return;
        }
        boots.add(boot);
        if (boots.size() > BOOTS_KEPT) {
            String oldest = boots.removeFirst();
            marks.replaceAll((_, mark) -> mark.boots().contains(oldest) ? without(mark, oldest) : mark);
        }
    }

    private static Mark without(Mark mark, String boot) {
        List<String> rest =
                mark.boots().stream().filter(kept -> !kept.equals(boot)).toList();
        return new Mark(mark.epoch(), mark.sequence(), rest, mark.formerEpoch(), mark.formerSequence());
    }

    AppliedMarks toMessage() {
        var message = AppliedMarks.newBuilder().addAllBootIds(boots).setMissed(missed);
        marks.forEach((stream, mark) -> message.addMarks(AppliedMark.newBuilder()
                .setTopic(stream.topic())
                .setSource(stream.source())
                .setEpoch(mark.epoch())
                .setSequence(mark.sequence())
                .addAllBoots(mark.boots().stream().map(boots::indexOf).toList())
                .setFormerEpoch(mark.formerEpoch())
                .setFormerSequence(mark.formerSequence())));
        return message.build();
    }

    /** The marks that a changelog record carries. */
    static KeyMarks of(AppliedMarks message) {
        var marks = new KeyMarks();
        marks.boots.addAll(message.getBootIdsList());
        marks.missed = message.getMissed();
        for (AppliedMark mark : message.getMarksList()) {
            List<String> seen = mark.getBootsList().stream()
                    .filter(place -> place >= 0 && place < marks.boots.size())
                    .map(marks.boots::get)
                    .toList();
            marks.marks.put(
                    new Stream(mark.getTopic(), mark.getSource()),
                    new Mark(
                            mark.getEpoch(),
                            mark.getSequence(),
                            seen,
                            mark.getFormerEpoch(),
                            mark.getFormerSequence()));
        }
        return marks;
    }
}
