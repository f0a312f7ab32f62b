package io.gpufleet.nodedaemon.model.polls;

import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the rules remember of every GPU's polls. Immutable. */
public final class PollBook {
    private final Map<String, Map<Kind, List<Rule>>> rules;
    private final long quietUntilNanos;

    private PollBook(Map<String, Map<Kind, List<Rule>>> rules, long quietUntilNanos) {
        this.rules = rules;
        this.quietUntilNanos = quietUntilNanos;
    }

    /** Nothing was polled; until then, by the monotonic clock, the machine has only just booted. */
    public static PollBook empty(long quietUntilNanos) {
        return new PollBook(Map.of(), quietUntilNanos);
    }

    /** The book after a poll, and what the rules say of each kind of fault. */
    public record Judged(PollBook next, Map<Kind, Word> words) {
        /** Copies the map. */
        public Judged {
            words = Map.copyOf(words);
        }
    }

    /** Takes note of a poll of one GPU. */
    public Judged polled(Vitals vitals, Moment now) {
        var before = rules.getOrDefault(vitals.gpuUuid(), GpuRules.standard(quietUntilNanos));
        var after = new EnumMap<Kind, List<Rule>>(Kind.class);
        var words = new EnumMap<Kind, Word>(Kind.class);
        before.forEach((kind, each) -> {
            var next = new ArrayList<Rule>();
            var said = new ArrayList<Word>();
            for (Rule rule : each) {
                Rule.Said one = rule.next(vitals, now);
                next.add(one.rule());
                said.add(one.word());
            }
            after.put(kind, List.copyOf(next));
            words.put(kind, Word.together(said));
        });
        var all = new HashMap<>(rules);
        all.put(vitals.gpuUuid(), after);
        return new Judged(new PollBook(all, quietUntilNanos), words);
    }

    /** What a first look at a GPU says of its memory, before anybody polled. */
    public static Word memory(Reading<Long> bytes) {
        return GpuRules.memory(bytes);
    }
}
