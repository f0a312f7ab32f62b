package io.gpufleet.wire.projection;

import com.google.protobuf.Message;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * Event-sourced state of one service. All methods except {@link #changelog()}, {@link #changelogType()},
 * {@link #inputs()} and {@link #heartbeatTopics()} are called by the engine's thread only; other threads must read
 * immutable snapshots. The {@code kafka} package of a service implements it by mapping messages to its own model and
 * back.
 */
public interface Projection {
    /** Returns the changelog topic of the service. */
    Topic changelog();

    /** Returns the event type of its state records on that topic. */
    EventType changelogType();

    /** Returns the input topics. */
    Set<Topic> inputs();

    /** Returns the inputs of which only key and append time are read. */
    default Set<Topic> heartbeatTopics() {
        return Set.of();
    }

    /** Resets to the empty state, before a restore. */
    void clear();

    /**
     * Loads the state of a key from the changelog, with its field {@code applied} cleared. Called continuously on a
     * standby. Makes no decisions.
     */
    void restore(String key, Message state);

    /** Removes the state of a key that was deleted from the changelog. */
    void forget(String key);

    /**
     * Applies one event to the state in memory and returns the outputs, among them the changelog record of each state
     * that changed. An exception means that the event cannot be applied and has changed nothing; it goes to the
     * dead-letter topic.
     */
    List<Outbound> fold(Inbound event, Instant now);

    /** Applies the deletion of a key of a compacted input. */
    default List<Outbound> foldTombstone(Topic topic, String key, Instant appendedAt) {
        return List.of();
    }

    /** Applies a record of a heartbeat topic. */
    default List<Outbound> heartbeat(Topic topic, String key, Instant appendedAt) {
        return List.of();
    }

    /** Runs timers that are due at {@code now}; called about every 250 ms while active. */
    default List<Outbound> tick(Instant now) {
        return List.of();
    }

    /** Called after the outputs of a batch were committed; side effects may follow from them. */
    default void committed(List<Outbound> outputs) {}

    /** Called when this replica has become active and its state is complete. */
    default void activated(Instant now) {}

    /** Called when this replica is no longer active; returns only after all side effects have stopped. */
    default void deactivated() {}
}
