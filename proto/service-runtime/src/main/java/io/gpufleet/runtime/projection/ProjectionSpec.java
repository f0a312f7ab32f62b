package io.gpufleet.runtime.projection;

import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.util.EnumSet;
import java.util.Set;

/**
 * Topics and types of a projection. The engine checks that all topics exist before it starts.
 *
 * @param changelog compacted topic of the states
 * @param stateType type of the state records on the changelog
 * @param schemaVersion version of the state message, from 1; a replica refuses a changelog of a later one
 * @param inputs topics whose events are handed to {@link Projection#on}
 * @param heartbeats topics of which only key and append time are read
 * @param outputs topics that effects may publish to, without the changelog
 */
public record ProjectionSpec(
        Topic changelog,
        EventType stateType,
        int schemaVersion,
        Set<Topic> inputs,
        Set<Topic> heartbeats,
        Set<Topic> outputs) {
    /** Refuses what cannot work. */
    public ProjectionSpec {
        inputs = Set.copyOf(inputs);
        heartbeats = Set.copyOf(heartbeats);
        outputs = Set.copyOf(outputs);
        if (!changelog.compacted() || !stateType.topics().contains(changelog)) {
            throw new IllegalArgumentException(stateType + " on " + changelog + " is no changelog");
        }
        if (inputs.stream().anyMatch(heartbeats::contains) || inputs.contains(changelog)) {
            throw new IllegalArgumentException("a topic is an input, a heartbeat or the changelog");
        }
        if (schemaVersion < 1) {
            throw new IllegalArgumentException("schema version " + schemaVersion + " is less than 1");
        }
    }

    /** Inputs and heartbeats. */
    public Set<Topic> read() {
        Set<Topic> all = EnumSet.noneOf(Topic.class);
        all.addAll(inputs);
        all.addAll(heartbeats);
        return all;
    }
}
