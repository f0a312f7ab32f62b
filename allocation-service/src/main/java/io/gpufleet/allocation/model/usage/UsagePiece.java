package io.gpufleet.allocation.model.usage;

import io.gpufleet.allocation.model.devicetime.DeviceCondition;
import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A stretch of time of one holder on one device: an interval, or what an adjustment adds to one or takes off it. Also a
 * stretch of time of a GPU that nobody holds.
 *
 * @param id id of the interval or of the adjustment
 * @param quality quality as the API names it
 * @param weight part of a GPU that the time counts as; negative where it is taken off
 */
public record UsagePiece(
        String id,
        String node,
        Holding holding,
        UsageAttributes attributes,
        Instant from,
        Instant to,
        String quality,
        GpuFraction weight) {
    /** Quality of a piece that a newer release wrote and this one does not know. */
    public static final String UNKNOWN = "unknown";

    /** Quality of time of which a GPU is there, not held and in service. */
    public static final String IDLE = "idle";

    private static final Set<String> UNBILLED = Set.of("unreachable", IDLE, "quarantined", "unaccounted", UNKNOWN);

    private static final int FIXED_BYTES = 1_000;
    private static final int LABEL_BYTES = 120;

    /** A stretch of time of a GPU that nobody holds. */
    public static UsagePiece of(String node, DeviceInterval interval) {
        boolean idle = interval.condition() == DeviceCondition.IDLE;
        return new UsagePiece(
                interval.id(),
                node,
                Holding.nobody(interval.gpu().uuid(), interval.gpu().shortModel()),
                UsageAttributes.of(interval.gpu().product(), "", Map.of()).withReducesIdle(!idle),
                interval.from(),
                interval.to(),
                interval.condition().quality(),
                interval.weight());
    }

    /** The idle time that there is less because of this piece; empty where none is. */
    public Optional<UsagePiece> idleLess() {
        if (!attributes.reducesIdle()) {
            return Optional.empty();
        }
        return Optional.of(new UsagePiece(
                id,
                node,
                Holding.nobody(
                        holding.device().slot().deviceUuid(), holding.device().shortModel()),
                UsageAttributes.of(attributes.product(), "", Map.of()),
                from,
                to,
                IDLE,
                weight.negated()));
    }

    /** About how many bytes of memory it takes: objects are most of it. */
    public int bytes() {
        int bytes = FIXED_BYTES
                + id.length()
                + node.length()
                + holding.holder().namespace().length()
                + holding.holder().pod().length()
                + holding.holder().container().length()
                + holding.device().id().length()
                + attributes.owner().length();
        for (Map.Entry<String, String> label : attributes.labels().entrySet()) {
            bytes += LABEL_BYTES + label.getKey().length() + label.getValue().length();
        }
        return bytes;
    }

    /** True for time that is never billed: it is part of no sum but its own. */
    public boolean unbilled() {
        return isUnbilled(quality);
    }

    static boolean isUnbilled(String quality) {
        return UNBILLED.contains(quality);
    }

    /** True when a part of the piece is within a window; nothing is within an empty one. */
    public boolean overlaps(Instant windowFrom, Instant windowTo) {
        return windowFrom.isBefore(windowTo) && from.isBefore(windowTo) && to.isAfter(windowFrom);
    }

    /** Whole seconds of the piece within a window, of the node's clock. */
    public long secondsWithin(Instant windowFrom, Instant windowTo) {
        long start = Math.max(from.getEpochSecond(), windowFrom.getEpochSecond());
        long end = Math.min(to.getEpochSecond(), windowTo.getEpochSecond());
        return Math.max(0, end - start);
    }
}
