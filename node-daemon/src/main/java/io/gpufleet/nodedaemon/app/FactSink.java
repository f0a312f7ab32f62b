package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Moment;

/** Where facts go. Never blocks and never fails: what can not be sent is kept, and what can not be kept is counted. */
public interface FactSink {
    /** Hands over a fact that was observed then. */
    void publish(Fact fact, Moment observed);
}
