package io.gpufleet.testbed.testkit.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The records that a test leaves on its broker. */
class PublishedRecordsIT {
    private static final Codec CODEC = new Codec(TestBed.CLUSTER, new Topics("site."));

    @TempDir
    private Path directory;

    private BrokerProcess broker;

    @BeforeEach
    void startBroker() {
        broker = BrokerProcess.start(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), CODEC.topics());
        try (var daemon = new DaemonEventProducer(broker.bootstrap(), CODEC, "n1")) {
            daemon.announce(TestGpus.a100(1));
        }
    }

    @AfterEach
    void killBroker() {
        broker.kill();
    }

    private void sendUnfit(String key) throws Exception {
        try (var producer = new KafkaProducer<>(
                Map.<String, Object>of("bootstrap.servers", broker.bootstrap()),
                new StringSerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(CODEC.topics().name(Topic.SIGNALS), key, "{".getBytes(UTF_8)))
                    .get();
        }
    }

    @Test
    void brokerWithARecordThatFitsNoSchemaIsNotClosedInSilence() throws Exception {
        sendUnfit("n1");

        assertThatThrownBy(broker::close)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("site.signals/")
                .hasMessageContaining("key n1");
        assertThat(broker.alive()).isFalse();
    }

    @Test
    void recordThatATestNamesMustBeThereAndMayBeUnfit() throws Exception {
        PublishedRecords published = PublishedRecords.of(broker.bootstrap());
        assertThat(published.check()).containsOnly(Map.entry("node.announced.v1", 1));

        published.expectUnfit(Topic.SIGNALS, "n1");

        assertThatThrownBy(published::check)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("every record of key n1 on SIGNALS fits");
        sendUnfit("n1");
        assertThatNoException().isThrownBy(broker::close);
    }
}
