package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.sequence.DedupeResult;
import io.gpufleet.runtime.sequence.EventSequenceReader;
import io.gpufleet.runtime.sequence.KeySequences;
import io.gpufleet.wire.DecodedRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The states of a projection, with the sequences that each contains. Written by the engine's thread. What a batch changes
 * can be undone until it is committed; only then do readers of {@link #committed()} see it.
 */
final class StateStore<S> implements States<S> {
    private record Before<S>(@Nullable S state, @Nullable KeySequences sequences) {}

    private final Projection<S> projection;
    private final Map<String, S> live = new HashMap<>();
    private final Map<String, KeySequences> sequences = new HashMap<>();
    private final Map<String, Instant> wakeAt = new HashMap<>();
    private final Map<String, S> loaded = new HashMap<>();
    private final Set<String> unloaded = new HashSet<>();
    private final Map<String, Before<S>> undo = new LinkedHashMap<>();
    private final Set<String> forgotten = new LinkedHashSet<>();
    private final Set<String> sequencesToWrite = new HashSet<>();
    /** Keys of events that changed nothing: their sequences are ahead of the changelog. */
    private final Set<String> sequencesAhead = new HashSet<>();

    private final Committed<S> committed;
    private boolean restored;

    StateStore(Projection<S> projection, Committed<S> committed) {
        this.projection = projection;
        this.committed = committed;
        committed.clear();
    }

    /** Loads the newest committed state of a key; readers see it after {@link #loaded}. */
    void load(String key, S state, Optional<KeySequences> applied) {
        applied.ifPresent(found -> sequences.put(key, found));
        live.put(key, state);
        schedule(key, state);
        if (restored) {
            loaded.put(key, state);
            unloaded.remove(key);
        }
    }

    /** Drops a key that the changelog gave up; readers see it no more after {@link #loaded}. */
    void unload(String key) {
        live.remove(key);
        sequences.remove(key);
        wakeAt.remove(key);
        if (restored) {
            loaded.remove(key);
            unloaded.add(key);
        }
    }

    /** The changelog was read to its end for the first time: readers see all of it at once. */
    void restored() {
        restored = true;
        committed.update(Map.copyOf(live), Set.of());
    }

    /** A batch of the changelog is loaded. */
    void loaded() {
        if (!restored || loaded.isEmpty() && unloaded.isEmpty()) {
            return;
        }
        committed.update(Map.copyOf(loaded), Set.copyOf(unloaded));
        loaded.clear();
        unloaded.clear();
    }

    /** Whether an event is to be applied; remembers it when it is. */
    DedupeResult admit(DecodedRecord.Event event) {
        return EventSequenceReader.admit(sequencesToChange(event.envelope().key()), event);
    }

    /** Remembers an event that this release does not know. */
    DedupeResult admit(DecodedRecord.UnknownType unknown) {
        return EventSequenceReader.admit(sequencesToChange(unknown.key()), unknown);
    }

    /** Writes the sequences of a key with this batch, though its state is the same; without a state there is no record. */
    void writeSequences(String key) {
        sequencesToWrite.add(key);
    }

    /** An event of a key changed nothing: its sequence is written before, or with, an offset behind it. */
    void sequencesAhead(String key) {
        sequencesAhead.add(key);
    }

    /** Writes with this batch, which has offsets, the sequences that are ahead of the changelog. */
    void writeSequencesAhead() {
        sequencesAhead.forEach(key -> {
            remember(key);
            writeSequences(key);
        });
        sequencesAhead.clear();
    }

    private KeySequences sequencesToChange(String key) {
        remember(key);
        return sequences.computeIfAbsent(key, _ -> new KeySequences());
    }

    /** Applies effects; the caller has checked them. */
    void apply(Effects<S> effects) {
        effects.forgotten().forEach(key -> {
            remember(key);
            live.remove(key);
            sequences.remove(key);
            wakeAt.remove(key);
            forgotten.add(key);
        });
        effects.states().forEach((key, state) -> {
            remember(key);
            live.put(key, state);
            forgotten.remove(key);
            schedule(key, state);
        });
    }

    private void remember(String key) {
        if (!undo.containsKey(key)) {
            KeySequences now = sequences.get(key);
            undo.put(key, new Before<>(live.get(key), now == null ? null : now.copy()));
        }
    }

    private void schedule(String key, S state) {
        Instant at = projection.wakeAt(state);
        if (at.equals(Instant.MAX)) {
            wakeAt.remove(key);
        } else {
            wakeAt.put(key, at);
        }
    }

    /** The states that are committed, readable on any thread. */
    States<S> committed() {
        return committed;
    }

    /** Keys whose timer has come. */
    List<String> woken(Instant now) {
        if (wakeAt.isEmpty()) {
            return List.of();
        }
        List<String> keys = new ArrayList<>();
        wakeAt.forEach((key, at) -> {
            if (!at.isAfter(now)) {
                keys.add(key);
            }
        });
        return keys;
    }

    /** New states of this batch, by key. */
    Map<String, S> changed() {
        return states(false);
    }

    /** States of this batch that go to the changelog: the new ones, and those that are the same with new sequences. */
    Map<String, S> toWrite() {
        return states(true);
    }

    /** Whether this batch gives a key another state, or one at all. */
    boolean isChanged(String key) {
        Before<S> before = undo.get(key);
        return before != null && before.state() != live.get(key);
    }

    private Map<String, S> states(boolean withSequences) {
        Map<String, S> found = new LinkedHashMap<>();
        undo.forEach((key, before) -> {
            S now = live.get(key);
            if (now != null && (now != before.state() || withSequences && sequencesToWrite.contains(key))) {
                found.put(key, now);
            }
        });
        return found;
    }

    /** Keys that this batch gives up and the changelog still has. */
    Set<String> forgotten() {
        return Set.copyOf(forgotten);
    }

    Optional<KeySequences> sequences(String key) {
        return Optional.ofNullable(sequences.get(key));
    }

    /** The batch is committed. */
    void commit() {
        if (!undo.isEmpty()) {
            Map<String, S> changed = changed();
            committed.update(changed, forgotten());
            sequencesAhead.removeAll(changed.keySet());
        }
        undo.clear();
        forgotten.clear();
        sequencesToWrite.clear();
    }

    /** The batch never happened; answers the keys that it had changed. */
    Set<String> undo() {
        Set<String> keys = Set.copyOf(undo.keySet());
        undo.forEach((key, before) -> {
            restore(sequences, key, before.sequences());
            restore(live, key, before.state());
            S state = before.state();
            if (state == null) {
                wakeAt.remove(key);
            } else {
                schedule(key, state);
            }
        });
        undo.clear();
        forgotten.clear();
        sequencesAhead.addAll(sequencesToWrite);
        sequencesToWrite.clear();
        return keys;
    }

    private static <V> void restore(Map<String, V> map, String key, @Nullable V value) {
        if (value == null) {
            map.remove(key);
        } else {
            map.put(key, value);
        }
    }

    @Override
    public Optional<S> get(String key) {
        return Optional.ofNullable(live.get(key));
    }

    @Override
    public int size() {
        return live.size();
    }

    @Override
    public void forEach(BiConsumer<String, S> each) {
        live.forEach(each);
    }

    /** Committed states, readable on any thread while the store is written. */
    static final class Committed<S> implements States<S> {
        private final ConcurrentMap<String, S> states = new ConcurrentHashMap<>();
        private final StateListener<S> listener;

        Committed(StateListener<S> listener) {
            this.listener = listener;
        }

        private void update(Map<String, S> changed, Set<String> forgotten) {
            if (changed.isEmpty() && forgotten.isEmpty()) {
                return;
            }
            states.putAll(changed);
            states.keySet().removeAll(forgotten);
            listener.committed(changed, forgotten);
        }

        private void clear() {
            states.clear();
            listener.cleared();
        }

        @Override
        public Optional<S> get(String key) {
            return Optional.ofNullable(states.get(key));
        }

        @Override
        public int size() {
            return states.size();
        }

        @Override
        public void forEach(BiConsumer<String, S> each) {
            states.forEach(each);
        }
    }
}
