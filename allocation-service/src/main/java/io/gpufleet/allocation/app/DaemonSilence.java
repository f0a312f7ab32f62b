package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.NodeClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Last word of each daemon, between the coarse times that are recorded in the ledgers. Void with the term; a daemon that
 * was not heard in it is silent from the time that its ledger has recorded. For the projection's thread.
 */
public final class DaemonSilence {
    private static final Duration RECORD_INTERVAL = Duration.ofMinutes(10);
    private static final Duration IDLE_RECORD_INTERVAL = Duration.ofHours(1);

    private record LastHeard(Instant at, boolean heard) {}

    /** Oldest word first. */
    private final Map<String, LastHeard> words = new LinkedHashMap<>();

    /** A new term begins; {@code nodes} are those whose silence would matter. */
    public void restarted(List<String> nodes, Instant now) {
        words.clear();
        nodes.forEach(node -> words.put(node, new LastHeard(now, false)));
    }

    /** A daemon was heard. */
    public void heard(String node, Instant appendedAt) {
        words.remove(node);
        words.put(node, new LastHeard(appendedAt, true));
    }

    /** Last word of a daemon in this term. */
    public Optional<Instant> lastWord(String node) {
        return Optional.ofNullable(words.get(node)).filter(LastHeard::heard).map(LastHeard::at);
    }

    /** True when the recorded time is so old that it should be written again. */
    public boolean shouldRecord(Instant recorded, Instant heardAt) {
        return heardAt.isAfter(recorded.plus(RECORD_INTERVAL));
    }

    /** The same for a node on which nothing is held. */
    public boolean shouldRecordIdle(Instant recorded, Instant heardAt) {
        return heardAt.isAfter(recorded.plus(IDLE_RECORD_INTERVAL));
    }

    /**
     * Nodes whose daemon is silent for too long.
     *
     * @param readFor how long the partition of a node's heartbeats has been read to its end: unread heartbeats, or a
     *     partition without a leader, are no silence
     * @param matters whether anything is held on the node, or it has GPUs
     */
    public List<String> silent(Function<String, Duration> readFor, Predicate<String> matters, Instant now) {
        List<String> silent = new ArrayList<>();
        List<String> idle = new ArrayList<>();
        for (var word : words.entrySet()) {
            if (!word.getValue().at().plus(NodeClock.TOLERATED_SILENCE).isBefore(now)) {
                break;
            }
            if (!matters.test(word.getKey())) {
                idle.add(word.getKey());
            } else if (readFor.apply(word.getKey()).compareTo(NodeClock.TOLERATED_SILENCE) >= 0) {
                silent.add(word.getKey());
            }
        }
        idle.forEach(words::remove);
        return silent;
    }
}
