package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A configuration error is reported in one line by the affected replica. */
@NullMarked
class ProjectionEngineMisconfigurationIT {
    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void olderOfTwoProcessesWithTheSameInstanceNameStops() {
        TestBus bus = TestBus.withNewPrefix();
        try (var older = bus.start("health-service-0", new CountingProjection())) {
            await().until(() -> older.role() == ReplicaRole.ACTIVE);
            try (var newer = bus.start("health-service-0", new CountingProjection())) {
                await().until(() -> older.failure().isPresent());
                assertThat(older.failure().orElseThrow())
                        .contains("instance 'health-service-0'")
                        .contains("GPUFLEET_INSTANCE");
                await().until(() -> newer.role() == ReplicaRole.ACTIVE);
            }
        }
    }

    @Test
    void missingTopicsAreWaitedForAndAWrongPartitionCountIsFatal(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            var topics = new Topics("gpu.");
            var settings = new ProjectionSettings("counting", "health-service-0", "", TestBus.SESSION);
            var projection = new CountingProjection();
            try (var engine = ProjectionEngine.start(
                    new EngineConfig(
                            settings,
                            new Codec("c1", topics),
                            KafkaClients.plain(broker.bootstrap()),
                            Clock.systemUTC()),
                    projection,
                    projection,
                    StateListener.none(),
                    _ -> {})) {
                await().until(() -> engine.readinessFailures().toString().contains("is missing: create it with"));
                assertThat(engine.failure()).isEmpty();

                create(
                        broker,
                        Arrays.stream(Topic.values())
                                .map(topic -> new NewTopic(topics.name(topic), 3, (short) 1))
                                .toList());
                await().until(() -> engine.failure().isPresent());
                assertThat(engine.failure().orElseThrow()).contains("has 3 partitions instead of");
                await().until(() -> engine.role() == ReplicaRole.STOPPED);
            }
        }
    }

    private static void create(BrokerProcess broker, List<NewTopic> topics) throws Exception {
        var config = new Properties();
        config.put("bootstrap.servers", broker.bootstrap());
        try (var admin = Admin.create(config)) {
            admin.createTopics(topics).all().get();
        }
    }
}
