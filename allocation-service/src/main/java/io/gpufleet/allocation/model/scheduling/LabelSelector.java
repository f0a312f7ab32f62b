package io.gpufleet.allocation.model.scheduling;

import java.util.List;
import java.util.Map;

/** A label selector; without requirements it selects nothing. */
public record LabelSelector(List<SelectorRequirement> requirements) {
    /** Selects nothing. */
    public static final LabelSelector NOTHING = new LabelSelector(List.of());

    /** Copies. */
    public LabelSelector {
        requirements = List.copyOf(requirements);
    }

    /** True when there are requirements and all are met. */
    public boolean selects(Map<String, String> labels) {
        return !requirements.isEmpty() && requirements.stream().allMatch(one -> one.matches(labels));
    }
}
