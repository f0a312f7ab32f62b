package io.gpufleet.allocation.model.quota;

import java.util.List;
import java.util.Map;

/** A label selector; one without requirements selects nothing here. */
public record LabelSelector(List<Requirement> requirements) {
    /** Selects nothing. */
    public static final LabelSelector NOTHING = new LabelSelector(List.of());

    /** Copies. */
    public LabelSelector {
        requirements = List.copyOf(requirements);
    }

    /** True when there are requirements and all are met. */
    public boolean selects(Map<String, String> labels) {
        return !requirements.isEmpty() && requirements.stream().allMatch(one -> one.metBy(labels));
    }
}
