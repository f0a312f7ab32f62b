package io.gpufleet.health.model.budget;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Limits that protect the fleet from its own policy.
 *
 * @param pools the first one that selects a node counts
 * @param others pool of the nodes that none selects; it has no selector
 * @param zone limits of each zone
 * @param fleet limits of all nodes together
 */
public record DisruptionBudgets(List<Pool> pools, Pool others, Limits zone, Limits fleet, StormBrake brake) {
    /** Label of a Node with its zone. */
    public static final String ZONE = "topology.kubernetes.io/zone";

    /** Enforces without limits. */
    public static final DisruptionBudgets NONE = new DisruptionBudgets(
            List.of(),
            new Pool("default", Map.of(), Mode.ENFORCE, Limits.NONE),
            Limits.NONE,
            Limits.NONE,
            StormBrake.NONE);

    /** Copies the list. */
    public DisruptionBudgets {
        pools = List.copyOf(pools);
    }

    /** A tenth of all nodes and devices, and the standard brake. */
    public static DisruptionBudgets standard(Mode mode) {
        return new DisruptionBudgets(
                List.of(),
                new Pool("default", Map.of(), mode, Limits.TENTH),
                Limits.NONE,
                Limits.NONE,
                StormBrake.STANDARD);
    }

    /** Pool of a node with these labels. */
    public Pool pool(Map<String, String> labels) {
        return pools.stream().filter(pool -> pool.selects(labels)).findFirst().orElse(others);
    }

    /** Keys of the labels that decide about pool and zone. */
    public Set<String> labelKeys() {
        return Stream.concat(Stream.of(ZONE), pools.stream().flatMap(pool -> pool.selector().keySet().stream()))
                .collect(Collectors.toUnmodifiableSet());
    }
}
