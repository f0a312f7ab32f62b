package io.gpufleet.runtime.receiver;

import io.gpufleet.runtime.projection.StateListener;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the engine, and the reading of the changelog, from a listener that fails for one key.
 *
 * @param failures counts and names the keys that failed
 */
public record GuardedListener<S>(StateListener<S> listener, FailedKeys failures) implements StateListener<S> {
    @Override
    public void cleared() {
        listener.cleared();
    }

    @Override
    public void committed(Map<String, S> states, Set<String> forgotten) {
        failures.pass("listener", listener::committed, states, forgotten);
    }
}
