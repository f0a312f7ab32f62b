package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Topics that change under a leader: noticed, with a clear end or a counted skip, never a silent wait. */
@NullMarked
class TopicChangesIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final CountingProjection projection = new CountingProjection();

    /** Topics are looked at every 20 s. */
    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void recreatedInputIsReadFromItsBeginning() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection);
                var admin = admin()) {
            // Given
            for (int i = 0; i < 5; i++) {
                node.send(node.fault("GPU-1", 79, ""));
            }
            await().until(() -> engine.counters().get("events") == 5);

            // When the topic is another one of the same name
            delete(admin, Topic.HEALTH);
            create(admin, Topic.HEALTH);
            node.send(node.fault("GPU-2", 79, ""));

            // Then its first record is read, whatever offset the former one had reached
            await().until(() -> engine.counters().get("events") == 6);
            assertThat(engine.failure()).isEmpty();
        }
    }

    @Test
    void inputThatIsRecreatedWhileTheServiceIsDownIsReadFromItsBeginning() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = admin()) {
            // Given
            serviceStopsAfterTheFirstEvent(node);

            // When the topic of the same name is longer than the former one was
            delete(admin, Topic.HEALTH);
            create(admin, Topic.HEALTH);
            node.send(node.fault("GPU-2", 79, ""));
            node.send(node.fault("GPU-3", 79, ""));

            // Then nothing of it is skipped
            var after = new CountingProjection();
            try (var engine = bus.start("health-service-0", after)) {
                await().until(() -> engine.active() && engine.counters().get("lag") == 0);
                assertThat(after.applied)
                        .extracting(Inbound.Event::eventId)
                        .containsExactly("n1/1000/health/2", "n1/1000/health/3");
                assertThat(engine.readinessFailures()).isEmpty();
            }
        }
    }

    @Test
    void deletedInputIsNamedInReadinessUntilItIsThereAgain() throws Exception {
        try (var engine = bus.start("health-service-0", projection);
                var admin = admin()) {
            // Given
            await().until(engine::active);

            // When
            delete(admin, Topic.HEALTH);

            // Then
            String missing = "topic " + bus.topics.name(Topic.HEALTH) + " is missing";
            await().until(() ->
                    !engine.active() && engine.readinessFailures().toString().contains(missing));

            // And it goes on by itself
            create(admin, Topic.HEALTH);
            await().until(() -> engine.active() && engine.readinessFailures().isEmpty());
        }
    }

    @Test
    void deletedTopicThatIsWrittenBesideTheProjectionIsNamedInReadinessToo() throws Exception {
        try (var admin = admin()) {
            create(admin, Topic.USAGE_DAILY);
            try (var engine =
                    bus.start("health-service-0", projection, new FurtherTopics(Set.of(Topic.USAGE_DAILY), Set.of()))) {
                // Given
                await().until(() ->
                        engine.active() && engine.readinessFailures().isEmpty());

                // When
                delete(admin, Topic.USAGE_DAILY);

                // Then
                String missing = "topic " + bus.topics.name(Topic.USAGE_DAILY) + " is missing";
                await().until(() -> engine.readinessFailures().toString().contains(missing));

                // And it goes on by itself
                create(admin, Topic.USAGE_DAILY);
                await().until(() ->
                        engine.active() && engine.readinessFailures().isEmpty());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Topic.class,
            names = {"HEALTH", "DECISIONS", "HEALTH_STATE"})
    void inputOutputOrChangelogThatGetsMorePartitionsEndsTheProjectionWithOneLine(Topic topic) throws Exception {
        try (var engine = bus.start("health-service-0", projection);
                var admin = admin()) {
            // Given
            await().until(engine::active);

            // When nodes may have another partition from now on
            String name = bus.topics.name(topic);
            int more = topic.partitions() + 1;
            admin.createPartitions(Map.of(name, NewPartitions.increaseTo(more)))
                    .all()
                    .get();

            // Then
            await().until(() -> engine.role() == ReplicaRole.STOPPED);
            assertThat(engine.failure().orElseThrow())
                    .contains(name, String.valueOf(more), String.valueOf(topic.partitions()));
        }
    }

    @Test
    void recordsThatRetentionRemovedAreCountedAndTheRestIsRead() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = admin()) {
            // Given
            serviceStopsAfterTheFirstEvent(node);

            // When what came meanwhile is removed from the log, but for what comes last
            fourEventsComeAndAreRemoved(node, admin);
            node.send(node.fault("GPU-3", 79, ""));

            // Then
            var after = new CountingProjection();
            try (var engine = bus.start("health-service-0", after)) {
                await().until(() -> engine.counters().get("events") == 1);
                assertThat(engine.counters().get("skipped_offsets")).isEqualTo(4);
                assertThat(engine.counters().get("missed")).isEqualTo(4);
            }
        }
    }

    @Test
    void recordsThatRetentionRemovesUnderALeaderAreCountedAndTheRestIsRead() throws Exception {
        var begun = new CountDownLatch(1);
        var slow = new CountDownLatch(1);
        var waiting = new CountingProjection() {
            @Override
            public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
                begun.countDown();
                await().until(() -> slow.getCount() == 0);
                return super.on(states, input, now);
            }
        };
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = admin();
                var engine = bus.start("health-service-0", waiting)) {
            // Given a leader that is behind
            node.send(node.fault("GPU-1", 79, ""));
            await().until(() -> begun.getCount() == 0);

            // When what comes meanwhile is removed from the log, but for what comes last
            for (int i = 0; i < 5; i++) {
                fourEventsComeAndAreRemoved(node, admin);
            }
            node.send(node.fault("GPU-3", 79, ""));
            slow.countDown();

            // Then each is read, or counted; a fetch that was under way may have brought the first ones
            await().until(() ->
                    engine.counters().get("events") + engine.counters().get("missed") == 22);
            assertThat(engine.counters().get("skipped_offsets"))
                    .isPositive()
                    .isEqualTo(engine.counters().get("missed"));
            assertThat(waiting.applied.getLast().eventId()).isEqualTo("n1/1000/health/22");
        }
    }

    @Test
    void partitionIsReadToItsEndWhenRetentionRemovedAllThatWasUnread() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = admin()) {
            // Given
            serviceStopsAfterTheFirstEvent(node);

            // When
            fourEventsComeAndAreRemoved(node, admin);

            // Then
            try (var engine = bus.start("health-service-0", new CountingProjection())) {
                await().until(() -> engine.counters().get("lag") == 0);
                assertThat(engine.counters().get("skipped_offsets")).isEqualTo(4);
            }
        }
    }

    @Test
    void firstStartReadsToTheEndOfTopicsWhoseRecordsAreAllRemoved() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = admin()) {
            node.send(node.fault("GPU-1", 79, ""));
            removeAll(admin, Topic.HEALTH);

            try (var engine = bus.start("health-service-0", projection)) {
                await().until(() -> engine.counters().get("lag") == 0);
            }
        }
    }

    @Test
    void changelogThatIsRecreatedUnderALeaderIsAReasonThatAnOperatorCanActOn() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var engine = bus.start("health-service-0", projection);
                var admin = admin()) {
            // Given
            node.send(node.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 1);
            assertThat(engine.readinessFailures()).isEmpty();

            // When
            delete(admin, Topic.HEALTH_STATE);
            create(admin, Topic.HEALTH_STATE);

            // Then the inputs are read again, and what they do not hold is said to be lost
            await().until(() -> engine.active() && engine.counters().get("events") == 2);
            assertThat(engine.readinessFailures())
                    .singleElement()
                    .asString()
                    .contains("own changelog " + bus.topics.name(Topic.HEALTH_STATE) + " was deleted")
                    .contains("restart");
        }
    }

    @Test
    void changelogThatIsRecreatedWhileTheServiceIsDownIsAReasonToo() throws Exception {
        try (var node = new NodeEventProducer(bus, "n1", 1000, "b1");
                var admin = admin()) {
            // Given
            serviceStopsAfterTheFirstEvent(node);

            // When
            delete(admin, Topic.HEALTH_STATE);
            create(admin, Topic.HEALTH_STATE);

            // Then
            try (var engine = bus.start("health-service-0", new CountingProjection())) {
                await().until(() -> engine.active() && engine.counters().get("events") == 1);
                assertThat(engine.readinessFailures())
                        .singleElement()
                        .asString()
                        .contains("own changelog " + bus.topics.name(Topic.HEALTH_STATE) + " was deleted");
            }

            // And a restart confirms it
            try (var engine = bus.start("health-service-0", new CountingProjection())) {
                await().until(engine::active);
                assertThat(engine.readinessFailures()).isEmpty();
            }
        }
    }

    @Test
    void outputWithAnotherNumberOfPartitionsStopsTheStartWithOneLine() throws Exception {
        String name = bus.topics.name(Topic.DECISIONS);
        int more = Topic.DECISIONS.partitions() + 1;
        try (var admin = admin()) {
            admin.createPartitions(Map.of(name, NewPartitions.increaseTo(more)))
                    .all()
                    .get();

            try (var engine = bus.start("health-service-0", projection)) {
                await().until(() -> engine.role() == ReplicaRole.STOPPED);
                assertThat(engine.failure().orElseThrow()).contains(name, String.valueOf(more));
            }
        }
    }

    private void serviceStopsAfterTheFirstEvent(NodeEventProducer node) throws Exception {
        try (var engine = bus.start("health-service-0", projection)) {
            node.send(node.fault("GPU-1", 79, ""));
            await().until(() -> engine.counters().get("events") == 1);
        }
    }

    private void fourEventsComeAndAreRemoved(NodeEventProducer node, Admin admin) throws Exception {
        for (int i = 0; i < 4; i++) {
            node.send(node.fault("GPU-2", 79, ""));
        }
        removeAll(admin, Topic.HEALTH);
    }

    private void delete(Admin admin, Topic topic) throws Exception {
        String name = bus.topics.name(topic);
        admin.deleteTopics(List.of(name)).all().get();
        await().until(() -> !admin.listTopics().names().get().contains(name));
    }

    private void create(Admin admin, Topic topic) throws Exception {
        var created = new NewTopic(bus.topics.name(topic), topic.partitions(), (short) 1);
        admin.createTopics(List.of(created.configs(topic.brokerSettings())))
                .all()
                .get();
    }

    /** Everything that is on a topic now. */
    private void removeAll(Admin admin, Topic topic) throws Exception {
        Map<TopicPartition, RecordsToDelete> everything = IntStream.range(0, topic.partitions())
                .mapToObj(partition -> new TopicPartition(bus.topics.name(topic), partition))
                .collect(Collectors.toMap(partition -> partition, _ -> RecordsToDelete.beforeOffset(-1)));
        admin.deleteRecords(everything).all().get();
    }

    private Admin admin() {
        var config = new Properties();
        config.put("bootstrap.servers", bus.broker.bootstrap());
        return Admin.create(config);
    }
}
