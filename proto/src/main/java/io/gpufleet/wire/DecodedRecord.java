package io.gpufleet.wire;

import com.google.protobuf.Message;
import java.time.Instant;

/** Result of decoding one record of the bus. */
public sealed interface DecodedRecord {
    /**
     * A readable event.
     *
     * @param appendedAt append time of the record, the only clock that all services share
     */
    record Event(Envelope envelope, Message payload, Instant appendedAt) implements DecodedRecord {}

    /**
     * An event of a type that this release does not know, from a writer that may write on its topic: a later release has
     * more types. A reader skips it and counts its sequence as met.
     *
     * @param ceType its type
     * @param bootId boot of the writing machine; empty for a service
     */
    record UnknownType(EventId id, EventSource source, String key, String ceType, String bootId)
            implements DecodedRecord {}

    /** Deletion of a key of a compacted topic. */
    record Tombstone(String key, Instant appendedAt) implements DecodedRecord {}

    /**
     * A record that cannot be decoded or is not allowed on its topic; goes to the dead-letter topic with this reason.
     */
    record Poison(String reason) implements DecodedRecord {}
}
