package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.runtime.consistency.ProjectionSimulationContract;

class InventorySimulationTest extends ProjectionSimulationContract<NodeState> {
    InventorySimulationTest() {
        super(new TestedInventoryProjection());
    }
}
