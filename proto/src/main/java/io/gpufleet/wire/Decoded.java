package io.gpufleet.wire;

import com.google.protobuf.Message;
import java.time.Instant;

/** What a record of the bus turned out to be. */
public sealed interface Decoded {
    /**
     * A readable event.
     *
     * @param appendedAt the log's append time, the one clock that all services share
     */
    record Event(Envelope envelope, Message payload, Instant appendedAt) implements Decoded {}

    /** The key of a compacted topic was given up. */
    record Tombstone(String key, Instant appendedAt) implements Decoded {}

    /** Not readable, or not allowed where it stands; belongs to the dead letters with this reason. */
    record Poison(String reason) implements Decoded {}
}
