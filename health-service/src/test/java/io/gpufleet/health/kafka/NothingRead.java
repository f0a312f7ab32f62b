package io.gpufleet.health.kafka;

import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;

/** No input is known to be read to its end. */
record NothingRead() implements Progress {
    @Override
    public Duration caughtUpFor(Topic topic, String key, Instant now) {
        return Duration.ZERO;
    }

    @Override
    public boolean caughtUp(Instant now) {
        return false;
    }
}
