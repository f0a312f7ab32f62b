package io.gpufleet.health.kafka;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.runtime.consistency.ProjectionConsistencyContract;

/** The consistency contract, kept by the health projection. */
class HealthProjectionConsistencyIT extends ProjectionConsistencyContract<NodeState> {
    HealthProjectionConsistencyIT() {
        super(new TestedHealthProjection());
    }
}
