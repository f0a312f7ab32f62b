package io.gpufleet.runtime.consistency;

import io.gpufleet.runtime.projection.Actor;

/** An actor of a simulation, with a thread of its own. */
public interface SimulatedActor<S> extends Actor<S> {
    /** Runs until its thread is killed. */
    void run();

    /** True when it has nothing to do now. */
    boolean idle();

    /** Its process has ended. */
    void disconnect();
}
