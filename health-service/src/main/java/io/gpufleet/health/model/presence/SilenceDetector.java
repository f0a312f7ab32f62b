package io.gpufleet.health.model.presence;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Finds nodes that are silent while others are heard. A node whose partitions were not read to their ends for the whole time
 * is not judged; where nobody is heard, or too many became silent, the bus is suspected and no node is silent. Remembers for
 * one term when each node was heard; one thread calls all methods.
 */
public final class SilenceDetector {
    /** A daemon sends samples every 10 s. */
    public static final Duration SILENT_AFTER = Duration.ofSeconds(60);

    /** So many may become silent within {@link #SILENT_AFTER} in a fleet of any size, or a tenth of it. */
    public static final int ALWAYS_POSSIBLE = 5;

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** After a longer pause events may have been missed: every node is listened to anew. */
    private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

    private final Map<String, Instant> heard = new HashMap<>();
    private final Map<String, Instant> found = new HashMap<>();
    private Instant listeningSince = Instant.EPOCH;
    private Instant judgedAt = Instant.EPOCH;

    /** A term begins: silence counts from now. */
    public void restart(Instant now) {
        heard.clear();
        found.clear();
        listeningSince = now;
        judgedAt = now;
    }

    /** Something of the node's daemon was read. */
    public void heard(String node, Instant now) {
        heard.put(node, now);
    }

    /** Removes what is kept for a node. */
    public void forget(String node) {
        heard.remove(node);
        found.remove(node);
    }

    /**
     * Nodes that have become silent; judged once a second, empty in between.
     *
     * @param present nodes that were heard as far as is known
     * @param readFor how long the partitions of a node have been read to their ends without a pause
     */
    public List<String> newlySilent(Supplier<List<String>> present, Function<String, Duration> readFor, Instant now) {
        Duration pause = Duration.between(judgedAt, now).abs();
        if (pause.compareTo(INTERVAL) < 0) {
            return List.of();
        }
        judgedAt = now;
        if (pause.compareTo(MAX_PAUSE) > 0) {
            heard.clear();
            listeningSince = now;
            return List.of();
        }
        found.values().removeIf(at -> at.isBefore(now.minus(SILENT_AFTER)));
        List<String> silent = judge(present.get(), readFor, now);
        silent.forEach(node -> found.put(node, now));
        return silent;
    }

    private List<String> judge(List<String> present, Function<String, Duration> readFor, Instant now) {
        List<String> quiet = present.stream().filter(node -> isQuiet(node, now)).toList();
        boolean nobodyHeard = present.size() > 1 && quiet.size() == present.size();
        if (quiet.isEmpty() || nobodyHeard) {
            return List.of();
        }
        List<String> silent =
                quiet.stream().filter(node -> isRead(node, readFor)).toList();
        Set<String> recent = new HashSet<>(found.keySet());
        recent.addAll(silent);
        long judged = present.stream().filter(node -> isRead(node, readFor)).count();
        return recent.size() > Math.max(ALWAYS_POSSIBLE, judged / 10) ? List.of() : silent;
    }

    private boolean isQuiet(String node, Instant now) {
        Instant last = heard.getOrDefault(node, listeningSince);
        return Duration.between(last, now).compareTo(SILENT_AFTER) > 0;
    }

    private static boolean isRead(String node, Function<String, Duration> readFor) {
        return readFor.apply(node).compareTo(SILENT_AFTER) > 0;
    }
}
