package io.gpufleet.allocation.kafka;

import static io.gpufleet.allocation.kafka.ProjectedNode.NODE;
import static io.gpufleet.allocation.kafka.ProjectedNode.at;
import static io.gpufleet.allocation.kafka.ProjectedNode.usage;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Nodes whose object was deleted are forgotten, unless they are heard again. */
class ForgottenNodeTest {
    private final ProjectedNode node = new ProjectedNode();

    @Test
    void nodeThatIsGoneIsForgottenAfterThirtyDays() {
        node.apply(node.snapshot(0, "a"));
        assertThat(node.projection.wakeAt(node.ledger())).isEqualTo(Instant.MAX);
        // When
        node.apply(node.nodeDeleted(10));
        // Then
        Instant forgotten = at(10).plus(Duration.ofDays(30));
        assertThat(node.projection.wakeAt(node.ledger())).isEqualTo(forgotten);
        assertThat(node.projection
                        .tick(NODE, node.states, forgotten.minusMillis(1))
                        .isEmpty())
                .isTrue();
        assertThat(node.projection.tick(NODE, node.states, forgotten)).isEqualTo(Effects.forget(NODE, List.of()));
    }

    @Test
    void nodeThatIsHeardAfterItsDeletionIsKeptLongerAndWhatItHoldsEndsWithIt() {
        node.apply(node.nodeDeleted(0));
        assertThat(node.states.byKey).isEmpty();
        node.apply(node.snapshot(5, "a"));
        node.apply(node.nodeDeleted(10));
        // When
        node.apply(node.snapshot(20, "b"));
        // Then
        Instant forgotten = at(20).plus(Duration.ofDays(30));
        assertThat(node.projection.wakeAt(node.ledger())).isEqualTo(forgotten);
        Effects<NodeLedger> effects = node.projection.tick(NODE, node.states, forgotten);
        assertThat(effects.forgotten()).containsExactly(NODE);
        assertThat(usage(effects)).singleElement().satisfies(closed -> {
            assertThat(closed.getPod()).isEqualTo("b");
            assertThat(closed.getReason()).isEqualTo("node-lost");
        });
    }

    @Test
    void nodeThatComesBackIsNotForgotten() {
        node.apply(node.snapshot(0, "a"));
        node.apply(node.nodeDeleted(10));
        // When
        node.apply(node.event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                20,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder().setUid("uid-2"))
                        .build()));
        // Then
        assertThat(node.projection.wakeAt(node.ledger())).isEqualTo(Instant.MAX);
        assertThat(node.projection
                        .tick(NODE, node.states, at(10).plus(Duration.ofDays(31)))
                        .isEmpty())
                .isTrue();
    }
}
