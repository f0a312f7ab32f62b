package io.gpufleet.runtime.projection;

import java.util.Optional;
import java.util.function.BiConsumer;

/** The states of a projection by key, to read. */
public interface States<S> {
    /** The state of a key. */
    Optional<S> get(String key);

    /** Number of keys with a state. */
    int size();

    /** Hands every key and state over, in no order. */
    void forEach(BiConsumer<String, S> each);
}
