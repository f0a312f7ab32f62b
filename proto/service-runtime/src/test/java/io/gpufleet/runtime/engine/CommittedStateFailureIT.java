package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.StateListener;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** An actor or a listener that fails for the committed state of one key harms that key alone, never the term. */
@NullMarked
class CommittedStateFailureIT {
    private static final String BROKEN = "n1";

    private final TestBus bus = TestBus.withNewPrefix();

    @Test
    void actorThatFailsForOneKeyActsOnTheOthers() {
        var projection = new CountingProjection() {
            @Override
            public void changed(Map<String, NodeHealthState> states, Set<String> forgotten) {
                if (states.containsKey(BROKEN)) {
                    throw new IllegalStateException("no patch for " + BROKEN);
                }
                super.changed(states, forgotten);
            }
        };
        try (var broken = new NodeEventProducer(bus, BROKEN, 1000, "b1");
                var node = new NodeEventProducer(bus, "n2", 1000, "b1");
                var engine = bus.start("health-service-0", projection)) {
            // Given
            await().until(engine::active);

            // When
            broken.send(broken.fault("GPU-1", 79, ""));
            node.send(node.fault("GPU-2", 79, ""));

            // Then
            await().until(() -> projection.acted.contains("n2")
                    && engine.readinessFailures().toString().contains("actor failed for 'n1': no patch for n1"));
            assertThat(engine.counters().get("failed_terms")).isZero();
            assertThat(engine.counters().get("failed_keys")).isPositive();
        }
    }

    @Test
    void listenerThatFailsForOneKeyLearnsTheOthersAlsoWhenTheChangelogIsRead() {
        var projection = new CountingProjection();
        try (var broken = new NodeEventProducer(bus, BROKEN, 1000, "b1");
                var node = new NodeEventProducer(bus, "n2", 1000, "b1");
                var first = bus.start("health-service-0", projection)) {
            // Given states on the changelog
            broken.send(broken.fault("GPU-1", 79, ""));
            node.send(node.fault("GPU-2", 79, ""));
            await().until(() -> first.counters().get("events") == 2);
        }
        var listener = new RefusingListener();

        // When
        try (var engine = bus.start("health-service-0", new CountingProjection(), listener)) {
            // Then
            await().until(() -> engine.active() && listener.told.contains("n2"));
            assertThat(engine.counters().get("failed_terms")).isZero();
            assertThat(engine.readinessFailures().toString()).contains("listener failed for 'n1': no index for n1");
        }
    }

    private static final class RefusingListener implements StateListener<NodeHealthState> {
        private final List<String> told = new CopyOnWriteArrayList<>();

        @Override
        public void cleared() {}

        @Override
        public void committed(Map<String, NodeHealthState> states, Set<String> forgotten) {
            if (states.containsKey(BROKEN)) {
                throw new IllegalStateException("no index for " + BROKEN);
            }
            told.addAll(states.keySet());
        }
    }
}
