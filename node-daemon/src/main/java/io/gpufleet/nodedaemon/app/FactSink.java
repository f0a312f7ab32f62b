package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.device.Moment;
import java.util.List;

/** Receives facts. Never blocks and never fails: a fact that cannot be sent is kept, and one that cannot be kept is counted. */
public interface FactSink {
    /** Publishes a fact that was observed at a time. */
    void publish(NodeFact fact, Moment observed);

    /** Does what publishing these facts takes, up to the sending; nobody gets them. Called by any thread. */
    default void warmUp(List<NodeFact> facts, Moment observed) {}
}
