package io.gpufleet.allocation.model.usage;

import io.gpufleet.allocation.model.holding.UsageAttributes;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Adds up the usage of one day in UTC, exactly, until it is read as {@link DailySum}s. */
public final class DailySumBuilder {
    private static final int MAX_PARTS = 1_000;
    private static final int MAX_PART_BYTES = 256 * 1_024;

    private record Group(String namespace, String model, String quality) {}

    private record PartKey(String node, UsageAttributes attributes) {
        static final PartKey NONE = new PartKey("", UsageAttributes.NONE);
    }

    private static final class Sum {
        private final GpuSeconds seconds = new GpuSeconds();
        private long intervals;

        private void add(Sum other) {
            seconds.add(other.seconds);
            intervals += other.intervals;
        }

        /** True for idle time of which GPUs that are not there were held, and nothing else. */
        private boolean isNothing() {
            return intervals == 0 && millis() == 0;
        }

        private long millis() {
            return seconds.value().movePointRight(3).longValueExact();
        }
    }

    private final LocalDate day;
    private final int maxKeys;
    private final Instant from;
    private final Instant to;
    private final Map<Group, Map<PartKey, Sum>> groups = new HashMap<>();

    /**
     * Nothing used yet.
     *
     * @param maxKeys parts of one group that are told apart while it adds up; further ones name nothing
     */
    public DailySumBuilder(LocalDate day, int maxKeys) {
        this.day = day;
        this.maxKeys = maxKeys;
        this.from = day.atStartOfDay(ZoneOffset.UTC).toInstant();
        this.to = day.plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant();
    }

    /** Adds another sum of the same day. */
    public void add(DailySumBuilder other) {
        other.groups.forEach(
                (group, parts) -> parts.forEach((key, sum) -> sum(group, key).add(sum)));
    }

    /** Adds what of the piece is within the day; nothing of a quality that this release does not know. */
    public void add(UsagePiece piece) {
        add(piece, 1);
        piece.idleLess().ifPresent(idle -> add(idle, 0));
    }

    private void add(UsagePiece piece, int intervals) {
        if (!piece.overlaps(from, to) || piece.quality().equals(UsagePiece.UNKNOWN)) {
            return;
        }
        var group = new Group(
                piece.holding().holder().namespace(), piece.holding().device().shortModel(), piece.quality());
        Sum sum = sum(group, new PartKey(piece.node(), piece.attributes().withReducesIdle(false)));
        sum.seconds.add(piece.secondsWithin(from, to), piece.weight());
        sum.intervals += intervals;
    }

    private Sum sum(Group group, PartKey key) {
        Map<PartKey, Sum> parts = groups.computeIfAbsent(group, _ -> new HashMap<>());
        PartKey known = parts.size() < maxKeys || parts.containsKey(key) ? key : PartKey.NONE;
        return parts.computeIfAbsent(known, _ -> new Sum());
    }

    /** The sums, by their keys. */
    public List<DailySum> sums() {
        Map<String, DailySum> sums = new TreeMap<>();
        groups.forEach((group, parts) -> {
            var total = new Sum();
            parts.values().forEach(total::add);
            if (total.isNothing()) {
                return;
            }
            var sum = new DailySum(
                    day,
                    group.namespace(),
                    group.model(),
                    group.quality(),
                    total.millis(),
                    total.intervals,
                    bounded(parts, total));
            sums.put(sum.key(), sum);
        });
        return List.copyOf(sums.values());
    }

    /** The largest parts, and one for the others. The rounding of the parts is in the last one, so that they add up. */
    private static List<DailySum.Part> bounded(Map<PartKey, Sum> parts, Sum total) {
        List<DailySum.Part> sorted = new ArrayList<>();
        parts.forEach(
                (key, sum) -> sorted.add(new DailySum.Part(key.node(), key.attributes(), sum.millis(), sum.intervals)));
        sorted.sort(Comparator.comparingLong((DailySum.Part part) -> -Math.abs(part.gpuMillis()))
                .thenComparing(part -> part.node() + part.attributes()));
        List<DailySum.Part> kept = new ArrayList<>();
        long millis = total.millis();
        long intervals = total.intervals;
        int bytes = 0;
        for (DailySum.Part part : sorted) {
            bytes += part.bytes();
            boolean last = kept.size() + 1 == sorted.size();
            if (bytes > MAX_PART_BYTES || kept.size() + 1 >= MAX_PARTS && !last) {
                kept.add(new DailySum.Part("", UsageAttributes.NONE, millis, intervals));
                return kept;
            }
            kept.add(last ? new DailySum.Part(part.node(), part.attributes(), millis, part.intervals()) : part);
            millis -= part.gpuMillis();
            intervals -= part.intervals();
        }
        return kept;
    }
}
