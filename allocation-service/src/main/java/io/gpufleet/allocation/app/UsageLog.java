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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;

/**
 * Intervals and adjustments of the last days in memory, so that a question reads no log; bounded by age and bytes. Beyond
 * that those that ended first go; they remain in the sums of their days. One thread adds; several may ask at a time.
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

    /** A window of time, and until when what is open counts: the same for what is held and for the idle time less by it. */
    private record Window(Instant from, Instant to, Instant now) {
        boolean overlaps(UsagePiece piece) {
            return piece.overlaps(from, to);
        }
    }

    /** A held lock. */
    private interface Held extends AutoCloseable {
        @Override
        void close();
    }

    private final Ledger ledger;
    private final Clock clock;
    private final long maxBytes;
    private final NavigableSet<UsagePiece> pieces =
            new TreeSet<>(Comparator.comparing(UsagePiece::to).thenComparing(UsagePiece::id));
    private final NavigableMap<LocalDate, DailySumBuilder> dropped = new TreeMap<>();
    private final Map<String, UsagePiece> byId = new HashMap<>();
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private Instant droppedUntil = Instant.MIN;
    private long bytes;
    private volatile boolean loaded;
    /** False while the log is read anew: what was dropped is added up again. */
    private boolean droppedLoaded;

    /** An empty log that keeps intervals of about so many bytes; {@code ledger} has the open ones. */
    public UsageLog(Ledger ledger, Clock clock, long maxBytes) {
        this.ledger = ledger;
        this.clock = clock;
        this.maxBytes = maxBytes;
    }

    private Held reading() {
        return held(lock.readLock());
    }

    private Held writing() {
        return held(lock.writeLock());
    }

    private static Held held(Lock one) {
        one.lock();
        return one::unlock;
    }

    /** Adds an interval or an adjustment, once. */
    public void add(UsagePiece piece) {
        try (var _ = writing()) {
            if (byId.putIfAbsent(piece.id(), piece) == null) {
                pieces.add(piece);
                bytes += piece.bytes();
            }
            LocalDate first = firstDay();
            Instant oldest = oldest();
            while (!pieces.isEmpty()
                    && (bytes > maxBytes || pieces.getFirst().to().isBefore(oldest))) {
                drop(pieces.removeFirst(), first);
            }
            dropped.headMap(first, false).clear();
        }
    }

    private void drop(UsagePiece piece, LocalDate first) {
        byId.remove(piece.id());
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
    public void started() {
        try (var _ = writing()) {
            dropped.clear();
            droppedLoaded = false;
        }
    }

    /** The log was read to its end. */
    public void loaded() {
        try (var _ = writing()) {
            loaded = true;
            droppedLoaded = true;
        }
    }

    /** Number of intervals and adjustments that are kept. */
    int size() {
        try (var _ = reading()) {
            return pieces.size();
        }
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

    /** Why usage cannot be answered yet; empty when it can. Waits for no question. */
    public List<String> readinessFailures() {
        return loaded ? List.of() : List.of("usage not read from the log yet");
    }

    /** Since when every interval is kept. */
    Instant keptSince() {
        try (var _ = reading()) {
            Instant oldest = oldest();
            return droppedUntil.isAfter(oldest) ? droppedUntil : oldest;
        }
    }

    @Override
    public List<UsageSum> sums(Query query) throws IOException {
        boolean all = query.groupBy().contains(Dimension.QUALITY);
        Map<List<String>, Sum> sums = new HashMap<>();
        Map<String, NodeLedger> nodes = ledger.all();
        try (var _ = reading()) {
            requireRead(loaded);
            requireKept(query);
            Consumer<UsagePiece> visitor = piece -> {
                if (all || !piece.unbilled()) {
                    add(sums, query, piece, 1);
                }
                if (all) {
                    piece.idleLess().ifPresent(idle -> add(sums, query, idle, 0));
                }
            };
            var window = new Window(query.from(), query.to(), clock.instant());
            visitHeld(nodes, window, visitor);
            if (all) {
                visitUnheld(nodes, window, visitor);
            }
        }
        return sums.entrySet().stream()
                .map(sum -> new UsageSum(
                        query.named(sum.getKey()), sum.getValue().seconds.value(), sum.getValue().intervals))
                .filter(sum -> !sum.isNothing())
                .sorted(UsageSum.BY_GROUP)
                .toList();
    }

    private static void add(Map<List<String>, Sum> sums, Query query, UsagePiece piece, int intervals) {
        Sum sum = sums.computeIfAbsent(
                query.values(one -> one.of(piece), piece.attributes().labels()), _ -> new Sum());
        query.admit(sums.size());
        sum.seconds.add(piece.secondsWithin(query.from(), query.to()), piece.weight());
        sum.intervals += intervals;
    }

    /** Sums of a day from {@link #firstDay} on; fails with {@link IOException} until the log is read. */
    List<DailySum> day(LocalDate day) throws IOException {
        Map<String, NodeLedger> nodes = ledger.all();
        var usage = new DailySumBuilder(day, Integer.MAX_VALUE);
        try (var _ = reading()) {
            requireRead(droppedLoaded);
            var window = new Window(UsageHistory.start(day), UsageHistory.start(day.plusDays(1)), clock.instant());
            visitHeld(nodes, window, usage::add);
            visitUnheld(nodes, window, usage::add);
            if (dropped.containsKey(day)) {
                usage.add(dropped.get(day));
            }
        }
        return usage.sums();
    }

    private static void requireRead(boolean read) throws IOException {
        if (!read) {
            throw new IOException("usage is not read from the log yet; retry in a few seconds");
        }
    }

    private void requireKept(Query query) {
        Instant since = keptSince();
        if (query.from().isBefore(since)) {
            throw new IllegalArgumentException(
                    "from=" + query.from() + " is before " + since + ", since when intervals are kept");
        }
    }

    /**
     * Shows the visitor each piece with a part within a window, but for the open time that nobody holds. Those of the ledgers
     * are made one node after the other: all those of a large fleet at once would outlive the young generation, question by
     * question.
     */
    private void visitHeld(Map<String, NodeLedger> nodes, Window window, Consumer<UsagePiece> visitor) {
        for (UsagePiece piece : pieces.descendingSet()) {
            if (!piece.to().isAfter(window.from())) {
                // All others ended before the window, too.
                break;
            }
            if (window.overlaps(piece)) {
                visitor.accept(piece);
            }
        }
        nodes.forEach((node, state) -> new OpenUsage(node, state, window.now())
                .unread(id -> Optional.ofNullable(byId.get(id)), droppedUntil).stream()
                        .filter(window::overlaps)
                        .forEach(visitor));
    }

    private void visitUnheld(Map<String, NodeLedger> nodes, Window window, Consumer<UsagePiece> visitor) {
        nodes.forEach((node, state) -> new OpenUsage(node, state, window.now())
                .unheld().stream().filter(window::overlaps).forEach(visitor));
    }
}
