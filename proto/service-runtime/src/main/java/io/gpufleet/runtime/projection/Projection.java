package io.gpufleet.runtime.projection;

import com.google.protobuf.Message;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * An event-sourced projection: what one service concludes from its input topics, one immutable state for each key.
 * The engine owns the states; every method here is a function of its arguments and of what it remembers of earlier ones,
 * which {@link #undone} and {@link #restarted} make void. All are called by one thread, but {@link #read} and {@link
 * #write}, which several threads call for the states of a large batch. Live path, standby and restart
 * use the same {@link #read} and {@link #on}.
 *
 * @param <S> state of one key, immutable, with {@code equals}
 */
public interface Projection<S> {
    /** Topics and types of this projection; the same on every call. */
    ProjectionSpec spec();

    /**
     * Maps a changelog message of the present schema version to a state; an exception stops the start. Its field {@code
     * applied} is the engine's and no part of the state.
     */
    S read(String key, Message state);

    /**
     * Brings a changelog message of an earlier schema version to the present one, before {@link #read}; asked of no other
     * message. A record keeps its version until its key changes, so a migration stays for as long as records of it may be
     * there. A message of a later version stops the start.
     */
    default Message migrate(Message state, int version) {
        return state;
    }

    /** Maps a state to its changelog message, once per changed key and commit; the field {@code applied} stays empty. */
    Message write(String key, S state);

    /**
     * Decides on one input and applies the decision. An exception sends this input alone to the dead letters.
     *
     * @param now our clock, corrected to the broker's
     */
    Effects<S> on(States<S> states, Inbound input, Instant now);

    /**
     * How long an input waits for others to share its transaction; zero where somebody waits for its effects. The same on
     * every call.
     */
    default Duration linger() {
        return Duration.ZERO;
    }

    /**
     * Events like those that are expected, in their order: a replica folds them over states of their own before it leads,
     * so that the first one of a term finds compiled code. {@link #on} must not remember them.
     */
    default List<Inbound.Event> samples(Instant now) {
        return List.of();
    }

    /** When {@link #tick} wants to see this state next; {@link Instant#MAX} for never, {@link Instant#MIN} for always. */
    default Instant wakeAt(S state) {
        return Instant.MAX;
    }

    /**
     * Further keys for {@link #tick}, for what depends on progress or on more than one state. Called every 250 ms, and twice
     * without that wait in a term: once every input is read to its end, and once that is committed.
     */
    default Collection<String> due(States<S> states, Progress progress, Instant now) {
        return List.of();
    }

    /**
     * Effects of the passing of time on one key. An exception leaves this key out for a minute, is counted, and is a
     * readiness reason; the other keys go on.
     */
    default Effects<S> tick(String key, States<S> states, Instant now) {
        return Effects.none();
    }

    /**
     * A batch with changes of these states never happened, and the states are again what they were: what was remembered of it
     * outside the states is void.
     */
    default void undone(Set<String> keys, States<S> states) {}

    /** A new term begins on this replica: what was remembered outside the states (last heard, for example) is void. */
    default void restarted(States<S> states, Instant now) {}
}
