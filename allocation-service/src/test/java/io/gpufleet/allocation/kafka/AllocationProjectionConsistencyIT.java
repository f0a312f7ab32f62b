package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.consistency.ProjectionConsistencyContract;

/** The consistency contract, kept by the ledger. */
class AllocationProjectionConsistencyIT extends ProjectionConsistencyContract<NodeLedger> {
    AllocationProjectionConsistencyIT() {
        super(new TestedAllocationProjection());
    }
}
