package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.record.InputOffsets;
import io.gpufleet.runtime.transaction.OpenTransactions;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class InputReaderIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final EngineConfig config = new EngineConfig(
            bus.settings("health-service-0"), bus.codec, KafkaClients.plain(bus.broker.bootstrap()), Clock.systemUTC());

    /** Clients of the broker, of which the readers are known; their time stands still, so that a slow machine finds all. */
    private static final class KnownReaders implements EngineClients {
        private final EngineClients clients;
        private final List<Consumer<byte[], byte[]>> readers = new ArrayList<>();

        private KnownReaders(EngineClients clients) {
            this.clients = clients;
        }

        @Override
        public Consumer<byte[], byte[]> reader(String purpose) {
            readers.add(clients.reader(purpose));
            return readers.getLast();
        }

        @Override
        public Producer<byte[], byte[]> writer() {
            return clients.writer();
        }

        @Override
        public OpenTransactions transactions() {
            return clients.transactions();
        }

        @Override
        public <T> Supplier<T> beside(Supplier<T> work) {
            return clients.beside(work);
        }

        @Override
        public long nanos() {
            return 0;
        }
    }

    @Test
    void everyPositionIsKnownBeforeTheFirstFetch() {
        // Given a partition whose position has a leader epoch that the broker is asked about, and others without a
        // position
        var clients = new KnownReaders(new BrokerClients(config));
        var projection = new CountingProjection();
        var parts = new EngineParts<>(config, projection, projection, StateListener.none(), clients);
        var offsets = new InputOffsets(bus.topics);
        offsets.read(recordBeforeTheFirst(new TopicPartition(bus.topics.name(Topic.HEALTH), 3)));
        var ends = new BrokerProbe.Ends(Map.of(), clients.nanos());
        try (var reader = new InputReader(parts, offsets, new MutableCounters(), () -> ends)) {
            // When
            reader.assign(Map.of());

            // Then no answer of the broker is waited for
            Consumer<byte[], byte[]> consumer = clients.readers.getFirst();
            assertThat(consumer.assignment())
                    .isNotEmpty()
                    .allSatisfy(partition -> assertThatCode(() -> consumer.position(partition, Duration.ZERO))
                            .doesNotThrowAnyException());
        }
    }

    private static ConsumerRecord<byte[], byte[]> recordBeforeTheFirst(TopicPartition partition) {
        return new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                -1,
                0,
                TimestampType.LOG_APPEND_TIME,
                0,
                0,
                new byte[0],
                new byte[0],
                new RecordHeaders(),
                Optional.of(0));
    }
}
