package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.consistency.ProjectionSimulationContract;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllocationSimulationTest extends ProjectionSimulationContract<NodeLedger> {
    AllocationSimulationTest() {
        super(new TestedAllocationProjection());
    }

    /** Elected, deposed and elected again while it read its changelog. */
    @ParameterizedTest
    @ValueSource(longs = {8418279739091294812L, 8405988811168753700L, 7825715110321575100L})
    void replicaThatIsDeposedWhileItRestoresLeadsWithNoOldStates(long seed) {
        smallFleetUnderMuchTroubleLosesNothingEither(seed);
    }
}
