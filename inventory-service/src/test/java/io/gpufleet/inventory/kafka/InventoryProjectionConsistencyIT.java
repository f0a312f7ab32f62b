package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.runtime.consistency.ProjectionConsistencyContract;

/** The consistency contract, kept by the inventory projection. */
class InventoryProjectionConsistencyIT extends ProjectionConsistencyContract<NodeState> {
    InventoryProjectionConsistencyIT() {
        super(new TestedInventoryProjection());
    }
}
