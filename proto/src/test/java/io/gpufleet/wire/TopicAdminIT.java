package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.testbed.kafka.BrokerProcess;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class TopicAdminIT {
    @Test
    void topicsAreCreatedOnceAndComparedWithTheCatalogue(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            // Missing topics are named
            var topics = new Topics("a.");
            assertThatThrownBy(() -> TopicAdmin.check(broker.bootstrap(), topics))
                    .isInstanceOf(TopicsException.class)
                    .hasMessageContaining("a.inventory")
                    .hasMessageContaining("gpufleet topics apply");

            // Created once; nothing is left to do the second time
            assertThat(TopicAdmin.apply(broker.bootstrap(), topics))
                    .hasSize(Topic.values().length)
                    .contains("created topic a.health");
            assertThat(TopicAdmin.apply(broker.bootstrap(), topics)).isEmpty();
            assertThat(TopicAdmin.check(broker.bootstrap(), topics)).isEmpty();

            // Fewer replicas than wanted are reported
            assertThat(TopicAdmin.apply(broker.bootstrap(), topics, (short) 3))
                    .contains(
                            "topic a.health has replication 1 instead of 3",
                            "topic a.health has min.insync.replicas=1 instead of 2");

            // More replicas than brokers
            assertThatThrownBy(() -> TopicAdmin.apply(broker.bootstrap(), new Topics("d."), (short) 3))
                    .isInstanceOf(TopicsException.class)
                    .hasMessageContaining("topic d.")
                    .hasMessageContaining("fewer replicas by --replication or GPUFLEET_TOPIC_REPLICATION")
                    .hasMessageNotContaining("GPUFLEET_KAFKA");

            // One topic with another setting and one with another partition count
            var config = new Properties();
            config.put("bootstrap.servers", broker.bootstrap());
            try (var admin = Admin.create(config)) {
                admin.createTopics(Set.of(
                                new NewTopic("b.inventory", 32, (short) 1)
                                        .configs(Map.of("message.timestamp.type", "CreateTime")),
                                new NewTopic("c.health", 5, (short) 1)))
                        .all()
                        .get();
            }
            assertThat(TopicAdmin.apply(broker.bootstrap(), new Topics("b.")))
                    .contains(
                            "topic b.inventory has message.timestamp.type=CreateTime, the catalogue says LogAppendTime");
            assertThatThrownBy(() -> TopicAdmin.apply(broker.bootstrap(), new Topics("c.")))
                    .hasMessageContaining("topic c.health has 5 partitions instead of 32")
                    .hasMessageContaining("another GPUFLEET_TOPIC_PREFIX");
        }
    }

    @Test
    void unreachableBrokerIsReportedInOneLine() {
        assertThatThrownBy(() -> TopicAdmin.check("127.0.0.1:1", new Topics("gpu.")))
                .isInstanceOf(TopicsException.class)
                .hasMessageContaining("Kafka at '127.0.0.1:1'")
                .hasMessageContaining("GPUFLEET_KAFKA");
        assertThatThrownBy(() -> TopicAdmin.check("no port", new Topics("gpu.")))
                .isInstanceOf(TopicsException.class)
                .hasMessageContaining("GPUFLEET_KAFKA");
    }
}
