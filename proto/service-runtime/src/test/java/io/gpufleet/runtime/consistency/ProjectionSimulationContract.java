package io.gpufleet.runtime.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.simulation.PlantedDefect;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulation of one service, with the events of its {@link TestedProjection}: a large fleet at a slow pace, and a small
 * one at a pace at which the rarest defects are found.
 */
public abstract class ProjectionSimulationContract<S> {
    private static final int LARGE = 1_000;
    private static final int STEPS_OF_A_LARGE_FLEET = 8_000;
    private static final ProjectionSimulation.Pace SLOW = new ProjectionSimulation.Pace(60, Duration.ofMillis(20));

    private static final int SMALL = 12;
    private static final int STEPS_OF_A_SMALL_FLEET = 400;
    private static final int STEPS_WITH_A_DEFECT = 2_000;
    private static final ProjectionSimulation.Pace FAST = new ProjectionSimulation.Pace(12, Duration.ofMillis(300));

    private static final int SEEDS_OF_A_LARGE_FLEET = 5;
    private static final int SEEDS_OF_A_SMALL_FLEET = 20;

    private final TestedProjection<S> tested;

    /** The contract of one projection. */
    protected ProjectionSimulationContract(TestedProjection<S> tested) {
        this.tested = tested;
    }

    static LongStream seedsOfALargeFleet() {
        return SimulationSeeds.of(SEEDS_OF_A_LARGE_FLEET);
    }

    static LongStream seedsOfASmallFleet() {
        return SimulationSeeds.of(SEEDS_OF_A_SMALL_FLEET);
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seedsOfALargeFleet")
    protected void oneReplicaActsAndEveryFactCountsOnce(long seed) {
        SimulationSeeds.run(seed, STEPS_OF_A_LARGE_FLEET, each -> simulation(each, SLOW, LARGE, PlantedDefect.NONE));
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seedsOfASmallFleet")
    protected void smallFleetUnderMuchTroubleLosesNothingEither(long seed) {
        SimulationSeeds.run(seed, STEPS_OF_A_SMALL_FLEET, each -> simulation(each, FAST, SMALL, PlantedDefect.NONE));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void plantedDefectIsFoundByASeedThatPassesWithoutIt(PlantedDefect defect) {
        assertThat(SimulationSeeds.finding(
                        defect, STEPS_WITH_A_DEFECT, (seed, planted) -> simulation(seed, FAST, SMALL, planted)))
                .isPresent();
    }

    private ProjectionSimulation<S> simulation(
            long seed, ProjectionSimulation.Pace pace, int nodes, PlantedDefect defect) {
        return new ProjectionSimulation<>(
                seed, pace, defect, tested::create, shared -> new SimulatedFleet<>(tested, shared, nodes));
    }
}
