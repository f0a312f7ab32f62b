package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Silence as the projection sees it: by what is read of the topics, and how far. */
class SilentNodesTest {
    private static final List<String> NODES = List.of("node-1", "node-2", "node-3");

    private final HealthProjection projection = new HealthProjection(
            new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10)), DisruptionBudgets.NONE);
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);
    private Duration readFor = Duration.ofHours(1);

    private final Progress progress = new Progress() {
        @Override
        public Duration caughtUpFor(Topic topic, String key, Instant now) {
            return readFor;
        }

        @Override
        public boolean caughtUp(Instant now) {
            return readFor.isPositive();
        }
    };

    SilentNodesTest() {
        projection.restarted(nodes, nodes.now());
        NODES.forEach(node -> {
            nodes.service(
                    node,
                    EventType.KUBERNETES_OBSERVED,
                    KubernetesFact.newBuilder()
                            .setNode(NodeObject.newBuilder().setUid("uid-" + node))
                            .build());
            nodes.daemon(
                    node,
                    Topic.INVENTORY,
                    EventType.NODE_ANNOUNCED,
                    NodeAnnounced.newBuilder().setBootId("boot-1").build());
        });
    }

    /** How far a node's inputs are read is looked up once for all nodes of a partition number. */
    @Test
    void everyInputHasAsManyPartitions() {
        assertThat(projection.spec().read()).extracting(Topic::partitions).containsOnly(Topic.HEALTH.partitions());
    }

    private void twoMinutesWithoutSamplesOf(String silent) {
        for (int second = 0; second < 120; second++) {
            nodes.advance(Duration.ofSeconds(1));
            NODES.stream().filter(node -> !node.equals(silent)).forEach(this::sample);
            projection.due(nodes, progress, nodes.now()).forEach(nodes::tick);
        }
    }

    private void sample(String node) {
        nodes.input(new Inbound.Heartbeat(Topic.TELEMETRY, node, nodes.now()));
    }

    private String reason(String node) {
        return nodes.get(node).orElseThrow().node().presence().reason();
    }

    @Test
    void aNodeWithoutSamplesIsSilentUntilTheNextOne() {
        twoMinutesWithoutSamplesOf("node-2");
        assertThat(NODES).extracting(this::reason).containsExactly("", "DaemonSilent", "");

        sample("node-2");
        assertThat(NODES).extracting(this::reason).containsOnly("");
    }

    @Test
    void aSilenceWhoseBatchIsUndoneIsToldAgain() {
        // Given
        for (int second = 0; second < 120; second++) {
            nodes.advance(Duration.ofSeconds(1));
            NODES.stream().filter(node -> !node.equals("node-2")).forEach(this::sample);
            projection.due(nodes, progress, nodes.now()).forEach(node -> nodes.undone(() -> nodes.tick(node)));
        }
        assertThat(reason("node-2")).isEmpty();

        // When
        projection.due(nodes, progress, nodes.now()).forEach(nodes::tick);

        // Then
        assertThat(reason("node-2")).isEqualTo("DaemonSilent");
        assertThat(projection.due(nodes, progress, nodes.now())).isEmpty();
    }

    @Test
    void aNodeThatIsHeardBeforeItsTickIsNotSilent() {
        for (int second = 0; second < 120; second++) {
            nodes.advance(Duration.ofSeconds(1));
            NODES.stream().filter(node -> !node.equals("node-2")).forEach(this::sample);
            var _ = projection.due(nodes, progress, nodes.now());
        }
        sample("node-2");

        nodes.tick("node-2");

        assertThat(reason("node-2")).isEmpty();
    }

    @Test
    void noNodeIsSilentWhileItsPartitionIsNotRead() {
        readFor = Duration.ZERO;

        twoMinutesWithoutSamplesOf("node-2");

        assertThat(NODES).extracting(this::reason).containsOnly("");
    }

    @Test
    void aNewTermListensAnew() {
        twoMinutesWithoutSamplesOf("");
        nodes.advance(Duration.ofMinutes(3));
        projection.restarted(nodes, nodes.now());

        nodes.advance(Duration.ofSeconds(1));
        assertThat(projection.due(nodes, progress, nodes.now())).isEmpty();
    }
}
