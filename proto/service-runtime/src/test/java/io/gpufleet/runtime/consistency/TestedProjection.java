package io.gpufleet.runtime.consistency;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Projection;
import java.util.Random;

/**
 * A projection and the events to test it with. A class with a constructor without parameters, since replicas in processes
 * of their own create it by name.
 *
 * @param <S> state of one key
 */
public interface TestedProjection<S> {
    /** A new projection. */
    Projection<S> create();

    /** The event that a node begins with; further ones are sent once it is applied. */
    TestEvent first(String node);

    /**
     * A further event of a node. All of one node are on one topic, because there is no order between topics that a
     * reference could repeat.
     */
    TestEvent next(String node, Random random);

    /** A state or an output without the fields that depend on the time of the fold. */
    Message withoutTimes(Message message);

    /** True when a tick depends on what a process remembers beside the states. */
    default boolean ticksNeedMemory() {
        return false;
    }
}
