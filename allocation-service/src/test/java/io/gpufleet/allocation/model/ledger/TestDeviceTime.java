package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.usage.GpuSeconds;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** Sums of all qualities of the ledger of a test, of intervals that are published and of open ones. */
final class TestDeviceTime {
    private TestDeviceTime() {}

    /** The node has these GPUs, none of them MIG, and offers all but the withdrawn ones. */
    static LedgerFact listed(double at, Set<String> withdrawn, String... gpus) {
        return new LedgerFact.GpusListed(
                Arrays.stream(gpus).map(TestDeviceTime::gpu).toList(), withdrawn, true, at(at));
    }

    static GpuIdentity gpu(String uuid) {
        return new GpuIdentity(uuid, "A100", "NVIDIA-A100-SXM4-80GB");
    }

    /** GPU-seconds by quality within a window, of what lasts until {@code now}; none of 0. */
    static Map<String, BigDecimal> sums(TestNodeLedger scene, double now, double from, double to) {
        return sums(scene, now, from, to, UnaryOperator.identity());
    }

    /** The same by names of the qualities. */
    static Map<String, BigDecimal> sums(
            TestNodeLedger scene, double now, double from, double to, UnaryOperator<String> names) {
        Map<String, GpuSeconds> sums = new TreeMap<>();
        for (UsagePiece piece : pieces(scene, at(now))) {
            add(sums, names.apply(piece.quality()), piece, at(from), at(to));
            piece.idleLess().ifPresent(idle -> add(sums, names.apply(idle.quality()), idle, at(from), at(to)));
        }
        Map<String, BigDecimal> values = new TreeMap<>();
        sums.forEach((quality, sum) -> values.put(quality, sum.value()));
        values.values().removeIf(value -> value.signum() == 0);
        return values;
    }

    /** GPU-seconds of all qualities within a window, rounded once. */
    static BigDecimal total(TestNodeLedger scene, double now, double from, double to) {
        var total = new GpuSeconds();
        for (UsagePiece piece : pieces(scene, at(now))) {
            total.add(piece.secondsWithin(at(from), at(to)), piece.weight());
            piece.idleLess().ifPresent(idle -> total.add(idle.secondsWithin(at(from), at(to)), idle.weight()));
        }
        return total.value();
    }

    private static void add(Map<String, GpuSeconds> sums, String name, UsagePiece piece, Instant from, Instant to) {
        sums.computeIfAbsent(name, _ -> new GpuSeconds()).add(piece.secondsWithin(from, to), piece.weight());
    }

    private static List<UsagePiece> pieces(TestNodeLedger scene, Instant now) {
        List<UsagePiece> pieces = new ArrayList<>();
        scene.published().forEach(entry -> pieces.add(piece(entry, scene.reducesIdle(entry))));
        scene.ledger()
                .open()
                .values()
                .forEach(open -> pieces.add(piece(open.close(now, true, IntervalEndReason.RELEASED), true)));
        for (DeviceInterval interval : scene.deviceTime()) {
            pieces.add(UsagePiece.of("n1", interval));
        }
        for (DeviceInterval interval : scene.ledger().openDeviceTime(now)) {
            pieces.add(UsagePiece.of("n1", interval));
        }
        return pieces;
    }

    private static UsagePiece piece(UsageEntry entry, boolean reducesIdle) {
        return switch (entry) {
            case UsageEntry.Closed(ClosedUsageInterval interval) -> piece(interval, reducesIdle);
            case UsageEntry.Adjusted adjusted ->
                new UsagePiece(
                        adjusted.id(),
                        "n1",
                        adjusted.holding(),
                        UsageAttributes.NONE.withReducesIdle(reducesIdle),
                        adjusted.from(),
                        adjusted.to(),
                        quality(adjusted.quality()),
                        adjusted.holding().device().weight(adjusted.gpuMillis() < 0 ? -1 : 1));
        };
    }

    private static UsagePiece piece(ClosedUsageInterval interval, boolean reducesIdle) {
        return new UsagePiece(
                interval.id(),
                "n1",
                interval.holding(),
                UsageAttributes.NONE.withReducesIdle(reducesIdle),
                interval.from(),
                interval.to(),
                quality(interval.quality()),
                interval.holding().device().weight(1));
    }

    private static String quality(IntervalQuality quality) {
        return quality.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
