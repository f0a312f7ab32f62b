package io.gpufleet.nodedaemon.model.fault.rules;

import java.util.List;
import java.util.stream.Collectors;

/** Result of a rule after a poll. */
public sealed interface FaultRuleResult {
    /** The fault occurred since the previous poll; every occurrence is reported. */
    record Occurred(String message) implements FaultRuleResult {}

    /** The fault is present; reported when it begins. */
    record Firing(String message) implements FaultRuleResult {}

    /** This poll cannot decide; the previous state stays. */
    record Inconclusive() implements FaultRuleResult {}

    /** The fault is absent. */
    record Inactive(String proof) implements FaultRuleResult {}

    /** The reading is unavailable. */
    record NoData() implements FaultRuleResult {}

    /** Combines the results of all rules of one kind: the worst of them; inactive only when all are. */
    static FaultRuleResult combine(List<FaultRuleResult> results) {
        var happened = texts(results, Occurred.class, Occurred::message);
        if (!happened.isEmpty()) {
            return new Occurred(happened);
        }
        var firing = texts(results, Firing.class, Firing::message);
        if (!firing.isEmpty()) {
            return new Firing(firing);
        }
        if (results.stream().anyMatch(Inconclusive.class::isInstance)) {
            return new Inconclusive();
        }
        var over = texts(results, Inactive.class, Inactive::proof);
        return over.isEmpty() ? new NoData() : new Inactive(over);
    }

    private static <W extends FaultRuleResult> String texts(
            List<FaultRuleResult> results, Class<W> type, java.util.function.Function<W, String> text) {
        return results.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .map(text)
                .distinct()
                .collect(Collectors.joining("; "));
    }
}
