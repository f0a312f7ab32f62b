package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class TopicsTest {
    @Property
    void partitionIsTheOneThatKafkasProducerChooses(@ForAll String key, @ForAll Topic topic) {
        assertThat(Topics.partition(topic, key))
                .isEqualTo(BuiltInPartitioner.partitionForKey(key.getBytes(UTF_8), topic.partitions()));
    }

    @Test
    void partitionsOfTheTopicsDocumentAreRight() throws IOException {
        assertThat(Files.readString(Path.of("TOPICS.md")))
                .contains(
                        "`gpu-node-7` is in partition " + Topics.partition(Topic.HEALTH, "gpu-node-7") + " of 32, and "
                                + Topics.partition(Topic.VERDICTS, "gpu-node-7") + " of the 128 of `gpu.verdicts`");
    }

    @Test
    void nameIsPrefixAndSuffixAndReadsBack() {
        var topics = new Topics("fleet-7.");
        assertThat(topics.name(Topic.NODES_HISTORY)).isEqualTo("fleet-7.nodes-history");
        for (Topic topic : Topic.values()) {
            assertThat(topics.byName(topics.name(topic))).contains(topic);
        }
        assertThat(topics.byName("gpu.health")).isEmpty();
        assertThat(topics.byName("fleet-7.gossip")).isEmpty();
    }

    @Test
    void prefixThatKafkaWouldRefuseIsRefused() {
        assertThatThrownBy(() -> new Topics("my fleet/")).hasMessageContaining("'my fleet/' is not usable");
        assertThatThrownBy(() -> new Topics("")).hasMessageContaining("for example 'gpu.'");
    }

    @Test
    void clientsSendWhateverATopicTakes() {
        assertThat(Topic.values())
                .extracting(Topic::maxMessageBytes)
                .allMatch(largest -> largest < KafkaClients.MAX_REQUEST_BYTES);
    }

    @Test
    void everyTopicKeepsTheAppendTime() {
        for (Topic topic : Topic.values()) {
            assertThat(topic.brokerSettings()).containsEntry("message.timestamp.type", "LogAppendTime");
            assertThat(topic.brokerSettings().get("cleanup.policy"))
                    .isEqualTo(topic.compacted() ? "compact" : "delete");
        }
        assertThat(Topic.VERDICTS.partitions()).isEqualTo(128);
        assertThat(Topic.ELECTION.partitions()).isEqualTo(1);
    }
}
