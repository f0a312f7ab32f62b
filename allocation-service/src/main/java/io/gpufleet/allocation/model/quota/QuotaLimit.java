package io.gpufleet.allocation.model.quota;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Limit of a quota.
 *
 * @param max GPUs or devices that may be in use at a time
 */
public record QuotaLimit(GpuSelector selector, Unit unit, int max) {
    /** Any model. */
    public static final String ANY = "*";

    /** Unit that is counted. */
    public enum Unit {
        /** GPUs: a MIG device by its compute slices, a share as 1/replicas. */
        GPUS,
        /** Devices as pods request them: a MIG device and a share are one each. */
        DEVICES
    }

    /** GPUs of a model by its short name in any case, or {@code *} for any. */
    public QuotaLimit(String model, int gpus) {
        this(new GpuSelector.Kinds(model, "", "", ""), Unit.GPUS, gpus);
    }

    /** The limits of one row of a specification, in which a unit that is not limited is absent. */
    public static List<QuotaLimit> of(GpuSelector.Kinds kinds, Map<Unit, Integer> max) {
        return new TreeMap<>(max)
                .entrySet().stream()
                        .map(unit -> new QuotaLimit(kinds, unit.getKey(), unit.getValue()))
                        .toList();
    }

    /** GPUs of every kind that no other limit of the quota names; the one on any model names none. */
    public static QuotaLimit others(List<QuotaLimit> limits, int gpus) {
        List<GpuSelector.Kinds> named = new ArrayList<>();
        for (QuotaLimit limit : limits) {
            if (!limit.isAny() && limit.selector() instanceof GpuSelector.Kinds kinds) {
                named.add(kinds);
            }
        }
        return new QuotaLimit(new GpuSelector.Others(named), Unit.GPUS, gpus);
    }

    /** Text that tells it from the other limits of a quota: the model, and what else it selects. */
    public String id() {
        return selector.id() + (unit == Unit.DEVICES ? " devices" : "");
    }

    /** True for the limit on all GPUs or all devices. */
    boolean isAny() {
        return selector instanceof GpuSelector.Kinds kinds && kinds.isAny();
    }

    /** Name of the limited unit, in messages. */
    public String displayName() {
        String counted = unit == Unit.DEVICES ? "devices" : "GPUs";
        return switch (selector) {
            case GpuSelector.Others _ -> counted + " that no other limit names";
            case GpuSelector.Kinds kinds when kinds.isAny() -> counted + " of any model";
            case GpuSelector.Kinds _ -> id();
        };
    }
}
