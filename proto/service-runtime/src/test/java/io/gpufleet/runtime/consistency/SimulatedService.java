package io.gpufleet.runtime.consistency;

import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.simulation.Link;
import java.util.function.BooleanSupplier;

/** What differs between the simulations of the services: who writes the inputs, and what is done with the states. */
public interface SimulatedService<S> {
    /** Something happens that is written to an input, or changes the API server. */
    void write();

    /**
     * The actor of one process.
     *
     * @param clock of its process, which may be wrong, and what it learnt of the broker's
     * @param mayAct whether its process may act now; each write to the API server is checked against it
     */
    SimulatedActor<S> actor(String instance, Link toApiServer, BrokerClock clock, BooleanSupplier mayAct);

    /** True when nothing waits for its time. */
    boolean settled();

    /** What the API server must hold once everything is done. */
    void check();
}
