package io.gpufleet.runtime.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class UnfinishedTransactionsTest {
    private static final TopicPartition CHANGELOG = new TopicPartition("gpu.health-state", 3);

    /** A broker whose markers follow 300 ms after it was asked for the first time. */
    private static final class SlowBroker implements OpenTransactions {
        private final long begun = System.nanoTime();
        private int asked;

        @Override
        public boolean newestIsCommitted() {
            return false;
        }

        @Override
        public Found find(Collection<TopicPartition> partitions) {
            asked++;
            boolean open = System.nanoTime() - begun < Duration.ofMillis(300).toNanos();
            return new Found(open ? Map.of(CHANGELOG, 0L) : Map.of(), Set.of());
        }

        @Override
        public Optional<ConsumerRecord<byte[], byte[]>> newestRecord(TopicPartition partition, long from) {
            return Optional.empty();
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    }

    @Test
    void endIsAwaitedWithPausesThatGrow() {
        // Given
        var broker = new SlowBroker();
        var producer = new MockProducer<>(
                true, new RoundRobinPartitioner(), new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        var written = new UnfinishedTransactions.Written(Set.of(CHANGELOG), Set.of(), Set.of());

        // When
        try (var unfinished = UnfinishedTransactions.beforeFence(written, broker, System::nanoTime)) {
            unfinished.end(producer);
        }

        // Then each answer of the broker was worth a question
        assertThat(broker.asked).isLessThan(20);
    }
}
