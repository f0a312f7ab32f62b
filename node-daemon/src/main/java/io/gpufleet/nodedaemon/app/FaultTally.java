package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** What happened to each GPU and how often: every XID counts, also the same one again. */
public final class FaultTally {
    /** How far back the recent counts reach. */
    public static final Duration WINDOW = RecentCount.WINDOW;

    /** NVML's word for an XID that it can not name; also where codes beyond any catalogue are counted. */
    private static final int UNKNOWN_XID = 999;

    private static final int MOST_CODES = 256;

    private final Map<String, OfGpu> gpus = new HashMap<>();

    private static final class OfGpu {
        private final Map<Integer, Long> xids = new TreeMap<>();
        private final Map<Integer, RecentCount> recentXids = new HashMap<>();
        private final Map<Long, RecentCount> recentClockEvents = new HashMap<>();
        private long faults;
        private int lastXid;
    }

    /**
     * What one GPU went through since the start of the daemon.
     *
     * @param faults observations, XIDs among them
     * @param lastXid the newest XID; 0 when there was none. One that was still open when the daemon started counts
     * @param xids how often, by code
     * @param recentXids how often within {@link #WINDOW}, by code
     * @param recentClockEvents at how many polls within {@link #WINDOW} a clock event reason was given, by NVML's bit
     */
    public record Tally(
            long faults,
            int lastXid,
            SortedMap<Integer, Long> xids,
            SortedMap<Integer, Integer> recentXids,
            SortedMap<Long, Integer> recentClockEvents) {
        /** Nothing happened. */
        public static final Tally NOTHING = new Tally(
                0, 0, Collections.emptySortedMap(), Collections.emptySortedMap(), Collections.emptySortedMap());
    }

    synchronized void observed(FaultKey key, long nanos) {
        var gpu = of(key.gpuUuid());
        gpu.faults++;
        if (key.fault() instanceof FaultCode.Xid(int code)) {
            gpu.lastXid = code;
            int counted = gpu.xids.size() < MOST_CODES || gpu.xids.containsKey(code) ? code : UNKNOWN_XID;
            gpu.xids.merge(counted, 1L, Long::sum);
            gpu.recentXids.computeIfAbsent(counted, _ -> new RecentCount(nanos)).happened(nanos);
        }
    }

    /** A fault that an earlier start of the daemon saw is still open. */
    synchronized void inherited(FaultKey key) {
        if (key.fault() instanceof FaultCode.Xid(int code)) {
            of(key.gpuUuid()).lastXid = code;
        }
    }

    /** A poll found these clock event reasons. */
    synchronized void clockEvents(String gpuUuid, long reasons, long nanos) {
        for (long left = reasons; left != 0; left &= left - 1) {
            of(gpuUuid)
                    .recentClockEvents
                    .computeIfAbsent(Long.lowestOneBit(left), _ -> new RecentCount(nanos))
                    .happened(nanos);
        }
    }

    private OfGpu of(String gpuUuid) {
        return gpus.computeIfAbsent(gpuUuid, _ -> new OfGpu());
    }

    /** What the GPU went through up to now. */
    public synchronized Tally read(String gpuUuid, long nanos) {
        OfGpu gpu = gpus.get(gpuUuid);
        if (gpu == null) {
            return Tally.NOTHING;
        }
        return new Tally(
                gpu.faults,
                gpu.lastXid,
                new TreeMap<>(gpu.xids),
                recent(gpu.recentXids, nanos),
                recent(gpu.recentClockEvents, nanos));
    }

    private static <K> SortedMap<K, Integer> recent(Map<K, RecentCount> counts, long nanos) {
        var read = new TreeMap<K, Integer>();
        counts.forEach((key, count) -> read.put(key, count.read(nanos)));
        return read;
    }
}
