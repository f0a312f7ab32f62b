package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.usage.DailySum;
import io.gpufleet.allocation.model.usage.DailySumBuilder;
import io.gpufleet.allocation.model.usage.GpuSeconds;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Intervals and adjustments of the last days in memory, so that a question reads no log; bounded by age and bytes. Beyond
 * that those that ended first go; they remain in the sums of their days. One thread adds, any thread asks.
 */
public final class UsageLog implements UsageSumReader {
    /** How long intervals are kept after their end. */
    public static final Duration RETENTION = Duration.ofDays(35);

    /** Parts that are told apart in the sum of a day of which intervals are not kept. */
    private static final int MAX_DROPPED_PARTS = 4_000;

    private static final class Sum {
        private final GpuSeconds seconds = new GpuSeconds();
        private long intervals;
    }

    private final Ledger ledger;
    private final Clock clock;
    private final long maxBytes;
    private final NavigableSet<UsagePiece> pieces =
            new TreeSet<>(Comparator.comparing(UsagePiece::to).thenComparing(UsagePiece::id));
    private final NavigableMap<LocalDate, DailySumBuilder> dropped = new TreeMap<>();
    private final Set<String> ids = new HashSet<>();
    private Instant droppedUntil = Instant.MIN;
    private long bytes;
    private boolean loaded;
    /** False while the log is read anew: what was dropped is added up again. */
    private boolean droppedLoaded;

    /** An empty log that keeps intervals of about so many bytes; {@code ledger} has the open ones. */
    public UsageLog(Ledger ledger, Clock clock, long maxBytes) {
        this.ledger = ledger;
        this.clock = clock;
        this.maxBytes = maxBytes;
    }

    /** Adds an interval or an adjustment, once. */
    public synchronized void add(UsagePiece piece) {
        if (ids.add(piece.id())) {
            pieces.add(piece);
            bytes += piece.bytes();
        }
        LocalDate first = firstDay();
        Instant oldest = oldest();
        while (!pieces.isEmpty() && (bytes > maxBytes || pieces.getFirst().to().isBefore(oldest))) {
            drop(pieces.removeFirst(), first);
        }
        dropped.headMap(first, false).clear();
    }

    private void drop(UsagePiece piece, LocalDate first) {
        ids.remove(piece.id());
        bytes -= piece.bytes();
        droppedUntil = piece.to().isAfter(droppedUntil) ? piece.to() : droppedUntil;
        LocalDate begin = UsageHistory.day(piece.from());
        LocalDate end = UsageHistory.day(piece.to().isAfter(clock.instant()) ? clock.instant() : piece.to());
        for (LocalDate day = begin.isBefore(first) ? first : begin; !day.isAfter(end); day = day.plusDays(1)) {
            dropped.computeIfAbsent(day, one -> new DailySumBuilder(one, MAX_DROPPED_PARTS))
                    .add(piece);
        }
    }

    /** The log is read from its begin, perhaps anew: what is kept stays. */
    public synchronized void started() {
        dropped.clear();
        droppedLoaded = false;
    }

    /** The log was read to its end. */
    public synchronized void loaded() {
        loaded = true;
        droppedLoaded = true;
    }

    /** Number of intervals and adjustments that are kept. */
    synchronized int size() {
        return pieces.size();
    }

    /** First day whose intervals were all read, and are kept or part of its sum. */
    LocalDate firstDay() {
        return UsageHistory.firstWholeDay(oldest());
    }

    /** The present day. */
    LocalDate today() {
        return UsageHistory.day(clock.instant());
    }

    private Instant oldest() {
        return clock.instant().minus(RETENTION);
    }

    /** Why usage cannot be answered yet; empty when it can. */
    public synchronized List<String> readinessFailures() {
        return loaded ? List.of() : List.of("usage not read from the log yet");
    }

    /** Since when every interval is kept. */
    synchronized Instant keptSince() {
        Instant oldest = oldest();
        return droppedUntil.isAfter(oldest) ? droppedUntil : oldest;
    }

    @Override
    public List<UsageSum> sums(Query query) throws IOException {
        boolean all = query.groupBy().contains(Dimension.QUALITY);
        Map<Map<String, String>, Sum> sums = new HashMap<>();
        for (UsagePiece piece : found(query)) {
            if (all || !piece.unbilled()) {
                add(sums, query, piece, 1);
            }
            if (all) {
                piece.idleLess().ifPresent(idle -> add(sums, query, idle, 0));
            }
        }
        return sums.entrySet().stream()
                .map(sum -> new UsageSum(sum.getKey(), sum.getValue().seconds.value(), sum.getValue().intervals))
                .filter(sum -> !sum.isNothing())
                .sorted(UsageSum.BY_GROUP)
                .toList();
    }

    private static void add(Map<Map<String, String>, Sum> sums, Query query, UsagePiece piece, int intervals) {
        Sum sum = sums.computeIfAbsent(
                query.group(one -> one.of(piece), piece.attributes().labels()), _ -> new Sum());
        query.admit(sums.size());
        sum.seconds.add(piece.secondsWithin(query.from(), query.to()), piece.weight());
        sum.intervals += intervals;
    }

    /** Sums of a day from {@link #firstDay} on; fails with {@link IOException} until the log is read. */
    List<DailySum> day(LocalDate day) throws IOException {
        Map<String, NodeLedger> nodes = ledger.all();
        var usage = new DailySumBuilder(day, Integer.MAX_VALUE);
        List<UsagePiece> found;
        synchronized (this) {
            requireRead(droppedLoaded);
            found = overlapping(nodes, UsageHistory.start(day), UsageHistory.start(day.plusDays(1)));
            if (dropped.containsKey(day)) {
                usage.add(dropped.get(day));
            }
        }
        found.forEach(usage::add);
        return usage.sums();
    }

    private static void requireRead(boolean read) throws IOException {
        if (!read) {
            throw new IOException("usage is not read from the log yet; retry in a few seconds");
        }
    }

    private List<UsagePiece> found(Query query) throws IOException {
        Map<String, NodeLedger> nodes = ledger.all();
        synchronized (this) {
            requireRead(loaded);
            Instant since = keptSince();
            if (query.from().isBefore(since)) {
                throw new IllegalArgumentException(
                        "from=" + query.from() + " is before " + since + ", since when intervals are kept");
            }
            return overlapping(nodes, query.from(), query.to());
        }
    }

    private List<UsagePiece> overlapping(Map<String, NodeLedger> nodes, Instant from, Instant to) {
        List<UsagePiece> found = new ArrayList<>();
        pieces.stream().filter(piece -> piece.overlaps(from, to)).forEach(found::add);
        Instant now = clock.instant();
        nodes.forEach((node, state) -> new OpenUsage(node, state, now)
                .unread(ids::contains, droppedUntil).stream()
                        .filter(piece -> piece.overlaps(from, to))
                        .forEach(found::add));
        return found;
    }
}
