package io.gpufleet.runtime.projection;

import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;

/** How far the inputs are read, for what must not be concluded from silence. */
public interface Progress {
    /**
     * How long the partition that holds a key has been read to its end without a pause; zero while it lags, has no leader
     * or was not asked.
     */
    Duration caughtUpFor(Topic topic, String key, Instant now);

    /** True when every partition of every input has been read to its end. */
    boolean caughtUp(Instant now);
}
