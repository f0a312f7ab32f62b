package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.usage.DailySum;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the sums of past days, on the active replica: what differs from what was written, of all days of the retention of
 * intervals, since late adjustments correct a day for as long as that.
 */
public final class DailySummation {
    private static final Logger LOG = LoggerFactory.getLogger(DailySummation.class);
    private static final long PERIOD_SECONDS = 120;
    private static final long FIRST_SECONDS = 30;

    /** A day is summed this long after its end: most ends of pods are known then. */
    private static final Duration SETTLING = Duration.ofMinutes(15);

    /** Past days that are summed each time; most adjustments are of them. */
    private static final int NEWEST = 2;

    private final UsageLog log;
    private final DailySums written;
    private final ActiveLease active;
    private final Consumer<DailySum> publisher;
    private final Clock clock;
    /** True once every day was summed since this replica acts. */
    private boolean complete;
    /** The next of the older days. */
    private LocalDate older = LocalDate.MAX;

    /** Sums nothing until {@link #run}. */
    public DailySummation(
            UsageLog log, DailySums written, ActiveLease active, Consumer<DailySum> publisher, Clock clock) {
        this.log = log;
        this.written = written;
        this.active = active;
        this.publisher = publisher;
        this.clock = clock;
    }

    /** Starts the thread that runs {@link #runDue} every 2 min, until what is returned is closed. */
    public AutoCloseable start() {
        var timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("daily-summation").daemon().factory());
        var _ = timer.scheduleWithFixedDelay(this::attempt, FIRST_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
        return timer::shutdownNow;
    }

    private void attempt() {
        try {
            runDue();
        } catch (IOException notYet) {
            LOG.atInfo().addKeyValue("reason", notYet.getMessage()).log("days are summed later");
        } catch (RuntimeException failed) {
            LOG.atWarn().setCause(failed).log("days not summed, trying again");
        }
    }

    /** Sums every day; fails with {@link IOException} until usage is read. */
    public void run() throws IOException {
        sum(log.firstDay(), end());
    }

    /**
     * Sums every day when this replica begins to act, then the newest days each time and one of the others in turn: all of them
     * come up within 70 min. A day of a large fleet takes seconds, all of them each time would take a processor. Fails with
     * {@link IOException} until usage is read.
     */
    void runDue() throws IOException {
        if (complete && active.held()) {
            sumNext();
        } else {
            run();
            complete = active.held();
        }
    }

    private void sumNext() throws IOException {
        LocalDate end = end();
        LocalDate newest = end.minusDays(NEWEST);
        sum(newest, end);
        LocalDate day = older.isBefore(newest) && !older.isBefore(log.firstDay()) ? older : newest.minusDays(1);
        sum(day, day.plusDays(1));
        older = day.minusDays(1);
    }

    private LocalDate end() {
        return UsageHistory.day(clock.instant().minus(SETTLING));
    }

    /** While this replica is active. */
    private void sum(LocalDate from, LocalDate end) throws IOException {
        for (LocalDate day = from; day.isBefore(end) && active.held(); day = day.plusDays(1)) {
            write(day);
        }
    }

    private void write(LocalDate day) throws IOException {
        Map<String, DailySum> before = new HashMap<>();
        written.within(day, day.plusDays(1)).forEach(sum -> before.put(sum.key(), sum));
        for (DailySum sum : log.day(day)) {
            before.remove(sum.key());
            publishUnlessWritten(sum);
        }
        before.values().stream().map(DailySum::emptied).forEach(this::publishUnlessWritten);
    }

    private void publishUnlessWritten(DailySum sum) {
        if (!written.isWritten(sum)) {
            publisher.accept(sum);
        }
    }
}
