package io.gpufleet.cli.bus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.gpufleet.testbed.testkit.SharedBroker;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/** Records of several topics of a real broker. */
class TopicReaderIT {
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final List<Topic> READ = List.of(Topic.HEALTH, Topic.VERDICTS);

    @Test
    void recordsOfSeveralPartitionsComeInTheOrderOfTime() throws ExecutionException, InterruptedException {
        // Given
        String bootstrap = SharedBroker.get().bootstrap();
        Instant before = Instant.now();
        List<String> written = new ArrayList<>();
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < 12; i++) {
                String key = "time-" + i;
                producer.send(new ProducerRecord<>(TOPICS.name(READ.get(i % 2)), i % 3, key, new byte[0]))
                        .get();
                written.add(key);
            }
        }
        // When
        List<String> read = new ArrayList<>();
        try (var reader = new TopicReader(KafkaClients.plain(bootstrap), TOPICS, READ)) {
            assertThatExceptionOfType(CancellationException.class)
                    .isThrownBy(() -> reader.followSince(before, rec -> {
                        read.add(rec.key());
                        if (read.size() == written.size()) {
                            throw new CancellationException("all are read");
                        }
                    }));
        }
        // Then
        assertThat(read).isEqualTo(written);
    }
}
