package io.gpufleet.runtime.receiver;

import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the term from an actor that fails for one key. One that cannot begin ends it: nothing would be acted upon.
 *
 * @param failures counts and names the keys that failed
 */
public record GuardedActor<S>(Actor<S> actor, FailedKeys failures) implements Actor<S> {
    @Override
    public void begin(Lease lease, States<S> states) {
        actor.begin(lease, states);
    }

    @Override
    public void changed(Map<String, S> states, Set<String> forgotten) {
        failures.pass("actor", actor::changed, states, forgotten);
    }

    @Override
    public void end() {
        actor.end();
    }
}
