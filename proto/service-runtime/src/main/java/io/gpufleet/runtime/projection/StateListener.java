package io.gpufleet.runtime.projection;

import java.util.Map;
import java.util.Set;

/**
 * Is given every committed state, on the leader and on a standby: for views of the whole that readers want, such as an
 * index by device. Called by the engine's thread; the first call after {@link #cleared} has all states that were on the
 * changelog then.
 */
public interface StateListener<S> {
    /** The states are read anew from the beginning. */
    void cleared();

    /** States were committed, and keys given up. Where this throws, it is called again for each key. */
    void committed(Map<String, S> states, Set<String> forgotten);

    /** A listener that does nothing; readers use the engine's own map. */
    static <S> StateListener<S> none() {
        return new StateListener<>() {
            @Override
            public void cleared() {}

            @Override
            public void committed(Map<String, S> states, Set<String> forgotten) {}
        };
    }
}
