package io.gpufleet.runtime.consistency;

import io.gpufleet.runtime.simulation.PlantedDefect;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

/** Seeds of a run: {@code -Dgpufleet.simulation.seed=N} repeats one, {@code -Dgpufleet.simulation.seeds=N} runs so many new ones. */
public final class SimulationSeeds {
    private static final int SEEDS_TO_FIND_A_DEFECT = 60;

    private SimulationSeeds() {}

    /** So many, unless the run asks for others. */
    public static LongStream of(int count) {
        Long repeated = Long.getLong("gpufleet.simulation.seed");
        if (repeated != null) {
            return LongStream.of(repeated);
        }
        Integer many = Integer.getInteger("gpufleet.simulation.seeds");
        return many == null ? LongStream.rangeClosed(1, count) : new Random().longs(many, 0, Long.MAX_VALUE);
    }

    /** Runs one simulation; a failure names the seed. */
    public static void run(long seed, int steps, LongFunction<? extends ProjectionSimulation<?>> create) {
        try (ProjectionSimulation<?> simulation = create.apply(seed)) {
            simulation.run(steps);
        } catch (AssertionError broken) {
            throw new AssertionError("repeat with -Dgpufleet.simulation.seed=" + seed, broken);
        }
    }

    /** The first seed with which a simulation fails that has a planted defect, and passes without it. */
    public static OptionalLong finding(
            PlantedDefect defect,
            int steps,
            BiFunction<Long, PlantedDefect, ? extends ProjectionSimulation<?>> create) {
        return LongStream.rangeClosed(1, SEEDS_TO_FIND_A_DEFECT)
                .filter(seed -> fails(seed, steps, each -> create.apply(each, defect)))
                .filter(seed -> !fails(seed, steps, each -> create.apply(each, PlantedDefect.NONE)))
                .findFirst();
    }

    private static boolean fails(long seed, int steps, LongFunction<? extends ProjectionSimulation<?>> create) {
        try {
            run(seed, steps, create);
            return false;
        } catch (AssertionError found) {
            return true;
        }
    }
}
