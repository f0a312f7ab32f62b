package io.gpufleet.nodedaemon.app.counters;

import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Counts faults per GPU: every occurrence of an XID counts, also a repeated one. */
public final class FaultOccurrenceCounters {
    /** Window of the recent counts. */
    public static final Duration WINDOW = SlidingWindowCounter.WINDOW;

    /** NVML's code for an unknown XID; codes beyond the catalogue are counted here, too. */
    private static final int UNKNOWN_XID = 999;

    private static final int MAX_CODES = 256;

    private final Map<String, GpuCounters> gpus = new HashMap<>();

    private static final class GpuCounters {
        private final Map<Integer, Long> xids = new TreeMap<>();
        private final Map<Integer, SlidingWindowCounter> recentXids = new HashMap<>();
        private final Map<Long, SlidingWindowCounter> recentClockEvents = new HashMap<>();
        private long faults;
        private int lastXid;
    }

    /**
     * Counts of one GPU since the start of the daemon.
     *
     * @param faults observations, XIDs among them
     * @param lastXid the newest XID; 0 when there was none. One that was open at the start of the daemon counts
     * @param xids occurrences by code
     * @param recentXids occurrences within {@link #WINDOW}, by code
     * @param recentClockEvents polls within {@link #WINDOW} with a clock event reason, by NVML's bit
     */
    public record GpuFaultCounts(
            long faults,
            int lastXid,
            SortedMap<Integer, Long> xids,
            SortedMap<Integer, Integer> recentXids,
            SortedMap<Long, Integer> recentClockEvents) {
        /** No faults. */
        public static final GpuFaultCounts NONE = new GpuFaultCounts(
                0, 0, Collections.emptySortedMap(), Collections.emptySortedMap(), Collections.emptySortedMap());
    }

    synchronized void observed(FaultKey key, long nanos) {
        var gpu = of(key.gpuUuid());
        gpu.faults++;
        if (key.fault() instanceof FaultCode.Xid(int code)) {
            gpu.lastXid = code;
            int counted = gpu.xids.size() < MAX_CODES || gpu.xids.containsKey(code) ? code : UNKNOWN_XID;
            gpu.xids.merge(counted, 1L, Long::sum);
            gpu.recentXids
                    .computeIfAbsent(counted, _ -> new SlidingWindowCounter(nanos))
                    .increment(nanos);
        }
    }

    /** A fault of an earlier process is still open. */
    synchronized void restored(FaultKey key) {
        if (key.fault() instanceof FaultCode.Xid(int code)) {
            of(key.gpuUuid()).lastXid = code;
        }
    }

    /** A poll found these clock event reasons. */
    synchronized void clockEvents(String gpuUuid, long reasons, long nanos) {
        for (long left = reasons; left != 0; left &= left - 1) {
            of(gpuUuid)
                    .recentClockEvents
                    .computeIfAbsent(Long.lowestOneBit(left), _ -> new SlidingWindowCounter(nanos))
                    .increment(nanos);
        }
    }

    private GpuCounters of(String gpuUuid) {
        return gpus.computeIfAbsent(gpuUuid, _ -> new GpuCounters());
    }

    /** Returns the counts of a GPU. */
    public synchronized GpuFaultCounts read(String gpuUuid, long nanos) {
        GpuCounters gpu = gpus.get(gpuUuid);
        if (gpu == null) {
            return GpuFaultCounts.NONE;
        }
        return new GpuFaultCounts(
                gpu.faults,
                gpu.lastXid,
                new TreeMap<>(gpu.xids),
                recent(gpu.recentXids, nanos),
                recent(gpu.recentClockEvents, nanos));
    }

    private static <K> SortedMap<K, Integer> recent(Map<K, SlidingWindowCounter> counts, long nanos) {
        var read = new TreeMap<K, Integer>();
        counts.forEach((key, count) -> read.put(key, count.read(nanos)));
        return read;
    }
}
