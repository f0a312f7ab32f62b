package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.consistency.ProjectionSimulationContract;

class AllocationSimulationTest extends ProjectionSimulationContract<NodeLedger> {
    AllocationSimulationTest() {
        super(new TestedAllocationProjection());
    }
}
