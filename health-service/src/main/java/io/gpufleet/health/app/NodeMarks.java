package io.gpufleet.health.app;

import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.FoundNode.Condition;
import io.gpufleet.health.model.MarksPlan;
import java.util.Optional;

/** Port: the Node objects of Kubernetes. {@link #read} and the patches block; none throws. */
public interface NodeMarks {
    /** Whether the watch has told of every Node by now. */
    boolean watching();

    /** The Node as the watch last told; empty when it is not known there. */
    Optional<FoundNode> cached(String node);

    /** The Node as it is now. */
    Answer read(String node);

    /** Writes taints, label and annotations in one patch, if the Node is still as it was found. */
    Answer patchMarks(FoundNode found, MarksPlan.Write write);

    /** Writes the condition {@code GpuUnhealthy}. */
    Answer patchCondition(FoundNode found, Condition condition);

    /** Tells people by a Kubernetes Event; returns at once, repeated ones are counted in one Event. */
    void tell(FoundNode node, boolean warning, String reason, String message);

    /** Makes connection and code ready, so that the first fault is no slower than the next; changes nothing. */
    void warmUp();

    /** What became of a call. */
    sealed interface Answer {
        /** It is done; the Node as it is now. */
        record Done(FoundNode node) implements Answer {}

        /** The Node has changed since it was found. */
        record Changed() implements Answer {}

        /** There is no such Node. */
        record Gone() implements Answer {}

        /** The API server does not want it from us, for example for want of rights; one line. */
        record Refused(String why) implements Answer {}

        /** The API server does not answer; one line. */
        record Away(String why) implements Answer {}
    }
}
