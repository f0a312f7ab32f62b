package io.gpufleet.runtime.follower;

import io.gpufleet.wire.DecodedRecord;

/** Receives the events of a topic; called by one thread. */
public interface TopicListener {
    /** The topic is read from the begin, also again after a failure. */
    default void started() {}

    /** An event, in the order of its key. */
    void event(DecodedRecord.Event event);

    /** Everything that was on the topic at the start was read. */
    default void loaded() {}
}
