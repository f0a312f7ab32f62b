package io.gpufleet.wire.fold;

import com.google.protobuf.Message;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * What one service makes of its inputs. All methods but {@link #changelog()}, {@link #changelogType()}, {@link
 * #inputs()} and {@link #undecoded()} are called by one thread, the engine's; a read from elsewhere wants an immutable
 * snapshot. A service's {@code .kafka} room implements it by mapping messages to its own model and back.
 */
public interface Folder {
    /** The service's one changelog topic. */
    Topic changelog();

    /** The type of its state records on that topic. */
    EventType changelogType();

    /** Topics that are folded. */
    Set<Topic> inputs();

    /** Those inputs of which only key and append time are read (heartbeats). */
    default Set<Topic> undecoded() {
        return Set.of();
    }

    /** Back to the empty state, before a restore. */
    void clear();

    /**
     * Loads the newest state of a key from the changelog, its field {@code applied} cleared; on a standby this goes on
     * for ever. Decides nothing.
     */
    void restore(String key, Message state);

    /** A key of the changelog was given up. */
    void forget(String key);

    /**
     * Decides and applies one event; the state in memory is changed when this returns. An exception says that the event
     * can not be applied and that nothing of it was: it goes to the dead letters. Each state that changed is among the
     * outputs as its changelog record.
     */
    List<Outbound> fold(Inbound event, Instant now);

    /** A key of a compacted input was given up. */
    default List<Outbound> foldTombstone(Topic topic, String key, Instant appendedAt) {
        return List.of();
    }

    /** A record of an undecoded input was appended. */
    default List<Outbound> heard(Topic topic, String key, Instant appendedAt) {
        return List.of();
    }

    /** Time passed; called at least every 250 ms while active. Timers are calls with {@code now}. */
    default List<Outbound> tick(Instant now) {
        return List.of();
    }

    /** The outputs of a batch are committed: what stands in them may be acted upon. */
    default void committed(List<Outbound> outputs) {}

    /** This replica is active, its state is complete: acting begins. */
    default void activated(Instant now) {}

    /** This replica no longer acts; returns only when nothing acts any more. */
    default void deactivated() {}
}
