package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.usage.DailySum;
import java.io.IOException;
import java.time.LocalDate;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The daily sums that were written, by their keys. Beyond a number of bytes those of the oldest days are kept without
 * their parts. One thread adds, any thread asks.
 */
public final class DailySums {
    private static final String FIRST = "";

    /** A sum, perhaps without its parts, and the hash of the parts that it was written with. */
    private record Written(DailySum sum, int partsHash) {
        Written undivided() {
            return new Written(sum.undivided(), partsHash);
        }
    }

    private final NavigableMap<String, Written> byKey = new TreeMap<>();
    private final long maxPartBytes;
    private long partBytes;
    /** Sums of lower keys, which begin with the day, are kept without parts. */
    private String dividedFrom = FIRST;

    private boolean loaded;

    /** No sums; those that are added keep parts of at most so many bytes in all. */
    public DailySums(long maxPartBytes) {
        this.maxPartBytes = maxPartBytes;
    }

    /** Takes the place of the sum of the same key. */
    public synchronized void add(DailySum sum) {
        put(sum.key(), new Written(sum, sum.parts().hashCode()));
        dividedFrom = sum.key().compareTo(dividedFrom) < 0 ? sum.key() : dividedFrom;
        Iterator<Map.Entry<String, Written>> oldest =
                byKey.tailMap(dividedFrom, true).entrySet().iterator();
        while (partBytes > maxPartBytes && oldest.hasNext()) {
            Map.Entry<String, Written> next = oldest.next();
            dividedFrom = next.getKey();
            partBytes -= next.getValue().sum().partBytes();
            next.setValue(next.getValue().undivided());
        }
    }

    private void put(String key, Written next) {
        Written before = byKey.put(key, next);
        partBytes += next.sum().partBytes() - (before == null ? 0 : before.sum().partBytes());
    }

    /** All that was written was read. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** True when this sum, with these parts, is the newest of its key. */
    synchronized boolean isWritten(DailySum sum) {
        Written known = byKey.get(sum.key());
        return known != null
                && known.partsHash() == sum.parts().hashCode()
                && known.sum().undivided().equals(sum.undivided());
    }

    /** Sums of the days from one to before another; fails with {@link IOException} until they are read. */
    synchronized List<DailySum> within(LocalDate from, LocalDate to) throws IOException {
        if (!loaded) {
            throw new IOException("daily usage is not read from the log yet; retry in a few seconds");
        }
        return byKey.subMap(from.toString(), to.toString()).values().stream()
                .map(Written::sum)
                .toList();
    }

    /** First day that has a sum. */
    synchronized Optional<LocalDate> firstDay() {
        return byKey.isEmpty()
                ? Optional.empty()
                : Optional.of(byKey.firstEntry().getValue().sum().day());
    }
}
