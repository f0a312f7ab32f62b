package io.gpufleet.runtime.projection;

import java.util.Map;
import java.util.Set;

/**
 * Acts on the outside (Kubernetes) for what is committed. Called by the engine's thread, so each method returns at once;
 * the work is done beside it. Before each call to the outside an actor asks the {@link Lease}.
 */
public interface Actor<S> {
    /** This replica leads from now on. {@code states} are those committed now, and stay readable. */
    void begin(Lease lease, States<S> states);

    /** A batch is committed. Where this throws, it is called again for each key, and the keys that fail are counted. */
    void changed(Map<String, S> states, Set<String> forgotten);

    /** This replica leads no more; returns once no further call to the outside is begun. */
    void end();

    /** An actor that does nothing. */
    static <S> Actor<S> none() {
        return new Actor<>() {
            @Override
            public void begin(Lease lease, States<S> states) {}

            @Override
            public void changed(Map<String, S> states, Set<String> forgotten) {}

            @Override
            public void end() {}
        };
    }
}
