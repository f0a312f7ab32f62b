package io.gpufleet.health.app;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeds of the simulation. {@code -Dgpufleet.simulation.seed=N} repeats one, {@code -Dgpufleet.simulation.seeds=N} runs so
 * many new ones.
 */
class HealthSimulationTest {
    private static final int NODES = 1_000;
    private static final int STEPS = 4_000;
    private static final int SEEDS = 3;

    static LongStream seeds() {
        Long repeated = Long.getLong("gpufleet.simulation.seed");
        if (repeated != null) {
            return LongStream.of(repeated);
        }
        Integer many = Integer.getInteger("gpufleet.simulation.seeds");
        return many == null ? LongStream.rangeClosed(1, SEEDS) : new java.util.Random().longs(many, 0, Long.MAX_VALUE);
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seeds")
    void oneReplicaActsAndEveryFactCountsOnce(long seed) {
        try (var simulation = new HealthSimulation(seed, NODES)) {
            simulation.run(STEPS);
        } catch (AssertionError broken) {
            throw new AssertionError("repeat with -Dgpufleet.simulation.seed=" + seed, broken);
        }
    }
}
