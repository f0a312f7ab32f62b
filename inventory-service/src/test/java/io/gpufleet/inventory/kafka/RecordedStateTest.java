package io.gpufleet.inventory.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.app.NodeTimers;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.runtime.engine.RecordedState;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A state that a release left in its changelog is restored. For a further release put its version here, keep those before in
 * the list of the test, and run {@code mvn -pl inventory-service test -Dtest=RecordedStateTest -Dchangelog.write=true}.
 */
class RecordedStateTest {
    private static final String PRESENT = "0.1.0";

    private static final RecordedState<NodeState> RECORDED = new RecordedState<>(
            new InventoryProjection(
                    new NodeTimers(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL), _ -> {})),
            "inventory-service-0",
            "n1");

    @BeforeAll
    static void write() throws IOException {
        if (Boolean.getBoolean("changelog.write")) {
            RECORDED.write(PRESENT, state());
        }
    }

    private static NodeState state() {
        return NodeViewMapperTest.FULL;
    }

    @ParameterizedTest
    @ValueSource(strings = PRESENT)
    void stateOfAReleaseIsRestored(String release) throws IOException {
        NodeState restored = RECORDED.restored(release);

        assertThat(restored.name()).isEqualTo("n1");
        assertThat(restored.revision()).isEqualTo(42);
    }
}
