package io.gpufleet.allocation.model.quota;

import java.util.Set;

/**
 * Limit of a quota.
 *
 * @param model short model name in any case, or {@code *} for any
 */
public record QuotaLimit(String model, int gpus) {
    /** Any model. */
    public static final String ANY = "*";

    /** A model that is not known yet: it may be any. */
    public static final String UNKNOWN = "?";

    /** True when a pod that may run on these models counts on this limit. */
    public boolean appliesTo(Set<String> models) {
        return model.equals(ANY) || models.contains(UNKNOWN) || models.stream().anyMatch(model::equalsIgnoreCase);
    }

    /** Name of the model in messages. */
    public String displayName() {
        return model.equals(ANY) ? "GPUs of any model" : model;
    }
}
