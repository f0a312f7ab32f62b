package io.gpufleet.runtime.transaction;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** Open transactions of this service as the broker knows them; the caller closes it. */
public interface OpenTransactions extends AutoCloseable {
    /**
     * Partitions on which a transaction is open, whoever began it.
     *
     * @param open offset at which the oldest open transaction begins, by partition
     * @param unknown partitions that did not answer
     */
    record Found(Map<TopicPartition, Long> open, Set<TopicPartition> unknown) {}

    /** True when the newest transaction of this service was decided to be committed; asked before it is fenced. */
    boolean newestIsCommitted();

    /** Asks these partitions. */
    Found find(Collection<TopicPartition> partitions);

    /** The newest record of a partition, committed or not, from this offset on; empty without the right to read it. */
    Optional<ConsumerRecord<byte[], byte[]>> newestRecord(TopicPartition partition, long from);

    /** Closes the clients of the broker. */
    @Override
    void close();

    /** For a broker that leaves none open. */
    static OpenTransactions none() {
        return new OpenTransactions() {
            @Override
            public boolean newestIsCommitted() {
                return false;
            }

            @Override
            public Found find(Collection<TopicPartition> partitions) {
                return new Found(Map.of(), Set.of());
            }

            @Override
            public Optional<ConsumerRecord<byte[], byte[]>> newestRecord(TopicPartition partition, long from) {
                return Optional.empty();
            }

            @Override
            public void close() {
                // Nothing was opened.
            }
        };
    }
}
