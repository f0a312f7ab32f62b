package io.gpufleet.cli.bus;

import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.Topics;

/**
 * Which dead letters are meant; an empty text and a negative number stand for any.
 *
 * @param topic name of the topic found on, with or without the prefix
 * @param partition its partition
 * @param offset its offset
 * @param consumer service that could not read or apply it
 * @param key key of the record, for example a node
 */
public record DeadLetterFilter(String topic, long partition, long offset, String consumer, String key) {
    boolean accepts(DeadLetter letter, Topics topics) {
        DeadLetterOrigin origin = letter.origin();
        return (topic.isEmpty() || topic.equals(origin.topic()) || (topics.prefix() + topic).equals(origin.topic()))
                && (partition < 0 || partition == origin.partition())
                && (offset < 0 || offset == origin.offset())
                && (consumer.isEmpty() || consumer.equals(origin.consumer()))
                && (key.isEmpty() || key.equals(letter.key()));
    }
}
