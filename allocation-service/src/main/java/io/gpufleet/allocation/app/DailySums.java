package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.usage.DailySum;
import java.io.IOException;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The daily sums that were written, by their keys. One thread adds, any thread asks. */
public final class DailySums {
    private final Map<String, DailySum> byKey = new TreeMap<>();
    private boolean loaded;

    /** Takes the place of the sum of the same key. */
    public synchronized void add(DailySum sum) {
        byKey.put(sum.key(), sum);
    }

    /** All that was written was read. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** Sums of the days from one to before another; fails with {@link IOException} until they are read. */
    synchronized List<DailySum> within(LocalDate from, LocalDate to) throws IOException {
        if (!loaded) {
            throw new IOException("daily usage is not read from the log yet; retry in a few seconds");
        }
        return byKey.values().stream()
                .filter(sum -> !sum.day().isBefore(from) && sum.day().isBefore(to))
                .toList();
    }

    /** First day that has a sum. */
    synchronized Optional<LocalDate> firstDay() {
        return byKey.values().stream().map(DailySum::day).min(LocalDate::compareTo);
    }
}
