package io.gpufleet.runtime.record;

import com.google.protobuf.Timestamp;
import io.gpufleet.proto.bus.v1.DeadLetterReplayed;
import io.gpufleet.wire.DeadLetterOrigin;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Dead letters that were applied after a replay, each a record of the changelog: a replay of the same one is a
 * duplicate. Kept for longer than the dead letters themselves.
 */
public final class ReplayedDeadLetters {
    /** Begin of their keys; position and append time of the record follow. */
    public static final String KEY = "@replayed/";

    private static final Duration KEPT = Duration.ofDays(31);

    private final Map<String, Instant> replayed = new HashMap<>();

    /** Key of the changelog record of one dead letter. */
    public static String key(DeadLetterOrigin origin) {
        return KEY + origin.position();
    }

    /** Value of that record. */
    public static DeadLetterReplayed toMessage(Instant at) {
        return DeadLetterReplayed.newBuilder()
                .setReplayedAt(
                        Timestamp.newBuilder().setSeconds(at.getEpochSecond()).setNanos(at.getNano()))
                .build();
    }

    /** Whether the dead letter of a key was applied already. */
    public boolean contains(String key) {
        return replayed.containsKey(key);
    }

    /** One was applied now. */
    public void add(String key, Instant at) {
        replayed.put(key, at);
    }

    /** One that the changelog holds. */
    public void load(String key, DeadLetterReplayed message) {
        replayed.put(
                key,
                Instant.ofEpochSecond(
                        message.getReplayedAt().getSeconds(),
                        message.getReplayedAt().getNanos()));
    }

    /** Its record left the changelog. */
    public void remove(String key) {
        replayed.remove(key);
    }

    /** Keys that are no longer needed. */
    public List<String> expired(Instant now) {
        Instant limit = now.minus(KEPT);
        return replayed.entrySet().stream()
                .filter(entry -> entry.getValue().isBefore(limit))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }
}
