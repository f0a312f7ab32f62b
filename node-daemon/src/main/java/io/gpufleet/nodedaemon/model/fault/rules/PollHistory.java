package io.gpufleet.nodedaemon.model.fault.rules;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** State of the rules of every GPU over its polls. Immutable. */
public final class PollHistory {
    private final Map<String, Map<FaultKind, List<FaultRule>>> rules;
    private final long quietUntilNanos;

    private PollHistory(Map<String, Map<FaultKind, List<FaultRule>>> rules, long quietUntilNanos) {
        this.rules = rules;
        this.quietUntilNanos = quietUntilNanos;
    }

    /** Returns an empty history; until {@code quietUntilNanos} of the monotonic clock the machine has just booted. */
    public static PollHistory empty(long quietUntilNanos) {
        return new PollHistory(Map.of(), quietUntilNanos);
    }

    /** The history after a poll, and the result of each kind of fault. */
    public record PollEvaluation(PollHistory next, Map<FaultKind, FaultRuleResult> results) {
        /** Copies the map. */
        public PollEvaluation {
            results = Map.copyOf(results);
        }
    }

    /** Applies a poll of one GPU. */
    public PollEvaluation evaluate(GpuSample sample, Moment now) {
        var before = rules.getOrDefault(sample.gpuUuid(), GpuFaultRules.standard(quietUntilNanos));
        var after = new EnumMap<FaultKind, List<FaultRule>>(FaultKind.class);
        var results = new EnumMap<FaultKind, FaultRuleResult>(FaultKind.class);
        before.forEach((kind, each) -> {
            var next = new ArrayList<FaultRule>();
            var single = new ArrayList<FaultRuleResult>();
            for (FaultRule rule : each) {
                FaultRule.Evaluation one = rule.evaluate(sample, now);
                next.add(one.next());
                single.add(one.result());
            }
            after.put(kind, List.copyOf(next));
            results.put(kind, FaultRuleResult.combine(single));
        });
        var all = new HashMap<>(rules);
        all.put(sample.gpuUuid(), after);
        return new PollEvaluation(new PollHistory(all, quietUntilNanos), results);
    }

    /** Judges the memory reading of the first scan of a GPU, before its first poll. */
    public static FaultRuleResult memory(Reading<Long> bytes) {
        return GpuFaultRules.memory(bytes);
    }
}
