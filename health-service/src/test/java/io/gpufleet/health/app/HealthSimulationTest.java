package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.consistency.ProjectionSimulation;
import io.gpufleet.runtime.consistency.SimulationSeeds;
import io.gpufleet.runtime.simulation.PlantedDefect;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A large fleet at a slow pace, and a small one at a pace at which the rarest defects are found. */
class HealthSimulationTest {
    private static final int SEEDS = 3;
    private static final ProjectionSimulation.Pace SLOW = new ProjectionSimulation.Pace(60, Duration.ofMillis(20));
    private static final ProjectionSimulation.Pace FAST = new ProjectionSimulation.Pace(12, Duration.ofMillis(300));

    static LongStream seeds() {
        return SimulationSeeds.of(SEEDS);
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seeds")
    void oneReplicaActsAndEveryFactCountsOnce(long seed) {
        SimulationSeeds.run(seed, 4_000, each -> HealthSimulation.of(each, 1_000, SLOW, PlantedDefect.NONE));
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seeds")
    void smallFleetUnderMuchTroubleLosesNothingEither(long seed) {
        SimulationSeeds.run(seed, 400, each -> HealthSimulation.of(each, 12, FAST, PlantedDefect.NONE));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void plantedDefectIsFoundByASeedThatPassesWithoutIt(PlantedDefect defect) {
        assertThat(SimulationSeeds.finding(
                        defect, 2_000, (seed, planted) -> HealthSimulation.of(seed, 12, FAST, planted)))
                .isPresent();
    }
}
