package io.gpufleet.runtime.consistency;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

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

    /** A second event of a node, on another topic; further ones are sent once it is applied. */
    default Optional<TestEvent> second(String node) {
        return Optional.empty();
    }

    /** True once the second event of a node is applied. */
    default boolean begun(S state) {
        return true;
    }

    /** Outputs about a key that follow from its events alone, whatever comes of the other keys. */
    default Set<Topic> independentOutputs() {
        return Set.copyOf(create().spec().outputs());
    }

    /** Checks what has to hold of all keys together at every moment. The log has the committed events of a topic so far. */
    default void checkTogether(Collection<S> states, Function<Topic, List<DecodedRecord.Event>> log) {}

    /** True when a tick depends on what a process remembers beside the states. */
    default boolean ticksNeedMemory() {
        return false;
    }
}
