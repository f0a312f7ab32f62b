package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.projection.Outbound;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class EventSenderIT {
    @Test
    void eventsOfOneSenderKeepTheirOrderAndTheirPartition(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            var topics = new Topics("gpu.");
            var codec = new Codec("c1", topics);
            TopicAdmin.apply(broker.bootstrap(), topics);
            var source = new EventSource.Service("c1", "health-service-0");
            try (var sender = EventSender.open(broker.bootstrap(), codec, source, Clock.systemUTC())) {
                for (int i = 1; i <= 20; i++) {
                    var command = OperatorCommand.newBuilder()
                            .setReason("reason " + i)
                            .build();
                    sender.send(Outbound.Event.of(
                                    Topic.SIGNALS, EventType.COMMAND_ISSUED, "n1", command, Instant.now()))
                            .toCompletableFuture()
                            .get();
                }
            }
            assertThat(read(broker.bootstrap(), codec))
                    .extracting(event -> event.envelope().id().sequence())
                    .startsWith(1L, 2L, 3L)
                    .hasSize(20)
                    .isSorted();
        }
    }

    private static List<DecodedRecord.Event> read(String bootstrap, Codec codec) {
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        List<DecodedRecord.Event> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new ByteArrayDeserializer())) {
            var partition = new TopicPartition("gpu.signals", Topics.partition(Topic.SIGNALS, "n1"));
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end =
                    consumer.endOffsets(List.of(partition)).values().iterator().next();
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(rec -> {
                    if (codec.decode(rec) instanceof DecodedRecord.Event event) {
                        found.add(event);
                    }
                });
            }
        }
        return found;
    }
}
