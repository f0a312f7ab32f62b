package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.allocation.model.usage.DayUsage;
import io.gpufleet.allocation.model.usage.GpuSeconds;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Intervals and adjustments of the last days in memory, so that a question reads no log; bounded by age and number. One
 * thread adds, any thread asks.
 */
public final class UsageLog implements UsageSums {
    /** How long intervals are kept after their end. */
    public static final Duration RETENTION = Duration.ofDays(35);

    /** Never billed: part of no sum but its own. */
    static final String UNREACHABLE = "unreachable";

    private static final class Sum {
        private final GpuSeconds seconds = new GpuSeconds();
        private long intervals;
    }

    private final Ledger ledger;
    private final Clock clock;
    private final int maxPieces;
    private final Deque<UsagePiece> pieces = new ArrayDeque<>();
    private final Set<String> ids = new HashSet<>();
    private Instant droppedUntil = Instant.MIN;
    private boolean loaded;

    /** An empty log that keeps at most so many intervals; {@code ledger} has the open ones. */
    public UsageLog(Ledger ledger, Clock clock, int maxPieces) {
        this.ledger = ledger;
        this.clock = clock;
        this.maxPieces = maxPieces;
    }

    /** Adds an interval or an adjustment, once. */
    public synchronized void add(UsagePiece piece) {
        if (ids.add(piece.id())) {
            pieces.addLast(piece);
        }
        Instant oldest = clock.instant().minus(RETENTION);
        while (!pieces.isEmpty()
                && (pieces.size() > maxPieces || pieces.getFirst().to().isBefore(oldest))) {
            UsagePiece dropped = pieces.removeFirst();
            ids.remove(dropped.id());
            droppedUntil = dropped.to().isAfter(droppedUntil) ? dropped.to() : droppedUntil;
        }
    }

    /** The log was read to its end. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** Why usage cannot be answered yet; empty when it can. */
    public synchronized List<String> readinessFailures() {
        return loaded ? List.of() : List.of("usage not read from the log yet");
    }

    /** Since when every interval is kept. */
    synchronized Instant keptSince() {
        Instant oldest = clock.instant().minus(RETENTION);
        return droppedUntil.isAfter(oldest) ? droppedUntil : oldest;
    }

    @Override
    public List<UsageSum> sums(Query query) throws IOException {
        boolean unreachable = query.groupBy().contains(Dimension.QUALITY);
        Map<Map<String, String>, Sum> sums = new HashMap<>();
        for (UsagePiece piece : overlapping(query.from(), query.to())) {
            if (piece.quality().equals(UNREACHABLE) && !unreachable) {
                continue;
            }
            Sum sum = sums.computeIfAbsent(
                    query.group(one -> one.of(piece), piece.attributes().labels()), _ -> new Sum());
            sum.seconds.add(
                    piece.secondsWithin(query.from(), query.to()),
                    piece.holding().device().fraction());
            sum.intervals++;
        }
        Map<String, UsageSum> rows = new TreeMap<>();
        sums.forEach((group, sum) ->
                rows.put(String.join("\n", group.values()), new UsageSum(group, sum.seconds.value(), sum.intervals)));
        return List.copyOf(rows.values());
    }

    /** Sums of a day; fails like {@link #sums}. */
    List<DailySum> day(LocalDate day) throws IOException {
        var usage = new DayUsage(day);
        overlapping(
                        day.atStartOfDay(ZoneOffset.UTC).toInstant(),
                        day.plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant())
                .forEach(usage::add);
        return usage.sums();
    }

    private List<UsagePiece> overlapping(Instant from, Instant to) throws IOException {
        Map<String, NodeLedger> nodes = ledger.all();
        List<UsagePiece> found = new ArrayList<>();
        synchronized (this) {
            if (!loaded) {
                throw new IOException("usage is not read from the log yet; retry in a few seconds");
            }
            Instant since = keptSince();
            if (from.isBefore(since)) {
                throw new IllegalArgumentException(
                        "from=" + from + " is before " + since + ", since when intervals are kept");
            }
            pieces.stream().filter(piece -> piece.overlaps(from, to)).forEach(found::add);
            nodes.forEach((node, state) -> state.open().values().stream()
                    .filter(open -> !ids.contains(open.id()))
                    .map(open -> open(node, state, open))
                    .filter(piece -> piece.overlaps(from, to))
                    .forEach(found::add));
        }
        return found;
    }

    /** An open interval so far. */
    private UsagePiece open(String node, NodeLedger state, OpenUsageInterval open) {
        Instant now = clock.instant();
        return new UsagePiece(
                open.id(),
                node,
                open.holding(),
                state.attributesOf(open.holding()),
                open.from(),
                now.isAfter(open.from()) ? now : open.from(),
                open.quality().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                1);
    }
}
