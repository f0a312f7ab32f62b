package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.allocation.model.usage.GpuSeconds;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
        List<UsagePiece> found = overlapping(query);
        boolean unreachable = query.groupBy().contains(Dimension.QUALITY);
        Map<List<String>, Sum> sums = new LinkedHashMap<>();
        for (UsagePiece piece : found) {
            if (piece.quality().equals(UNREACHABLE) && !unreachable) {
                continue;
            }
            Sum sum = sums.computeIfAbsent(
                    query.groupBy().stream().map(one -> one.of(piece)).toList(), _ -> new Sum());
            sum.seconds.add(
                    piece.secondsWithin(query.from(), query.to()),
                    piece.holding().device().fraction());
            sum.intervals++;
        }
        Map<String, UsageSum> rows = new TreeMap<>();
        sums.forEach((values, sum) -> {
            Map<String, String> group = new LinkedHashMap<>();
            for (int i = 0; i < values.size(); i++) {
                group.put(query.groupBy().get(i).text(), values.get(i));
            }
            rows.put(String.join("\n", values), new UsageSum(group, sum.seconds.value(), sum.intervals));
        });
        return List.copyOf(rows.values());
    }

    private List<UsagePiece> overlapping(Query query) throws IOException {
        Map<String, NodeLedger> nodes = ledger.all();
        List<UsagePiece> found = new ArrayList<>();
        synchronized (this) {
            if (!loaded) {
                throw new IOException("usage is not read from the log yet; retry in a few seconds");
            }
            Instant since = keptSince();
            if (query.from().isBefore(since)) {
                throw new IllegalArgumentException(
                        "from=" + query.from() + " is before " + since + ", since when intervals are kept");
            }
            pieces.stream().filter(piece -> overlaps(piece, query)).forEach(found::add);
            nodes.forEach((node, state) -> state.open().values().stream()
                    .filter(open -> !ids.contains(open.id()))
                    .map(open -> open(node, open))
                    .filter(piece -> overlaps(piece, query))
                    .forEach(found::add));
        }
        return found;
    }

    private static boolean overlaps(UsagePiece piece, Query query) {
        return piece.from().isBefore(query.to()) && piece.to().isAfter(query.from());
    }

    /** An open interval so far. */
    private UsagePiece open(String node, OpenUsageInterval open) {
        Instant now = clock.instant();
        return new UsagePiece(
                open.id(),
                node,
                open.holding(),
                open.from(),
                now.isAfter(open.from()) ? now : open.from(),
                open.quality().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                1);
    }
}
