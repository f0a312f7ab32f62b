package io.gpufleet.health.kafka;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.runtime.consistency.ProjectionConsistencyContract;

/** The consistency contract, kept by a health projection whose budgets are too small for the faults of its nodes. */
class BudgetsConsistencyIT extends ProjectionConsistencyContract<NodeState> {
    BudgetsConsistencyIT() {
        super(new TestedBudgets());
    }
}
