package io.gpufleet.runtime.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.simulation.PlantedDefect;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulation of one service, with the events of its {@link TestedProjection}. */
public abstract class ProjectionSimulationContract<S> {
    private static final int NODES = 12;
    private static final int STEPS = 400;
    private static final int STEPS_WITH_A_DEFECT = 2_000;
    private static final int SEEDS = 5;
    private static final ProjectionSimulation.Pace PACE = new ProjectionSimulation.Pace(12, Duration.ofMillis(300));

    private final TestedProjection<S> tested;

    /** The contract of one projection. */
    protected ProjectionSimulationContract(TestedProjection<S> tested) {
        this.tested = tested;
    }

    static LongStream seeds() {
        return SimulationSeeds.of(SEEDS);
    }

    @ParameterizedTest(name = "-Dgpufleet.simulation.seed={0}")
    @MethodSource("seeds")
    protected void oneReplicaActsAndEveryFactCountsOnce(long seed) {
        SimulationSeeds.run(seed, STEPS, each -> simulation(each, PlantedDefect.NONE));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void plantedDefectIsFoundByASeedThatPassesWithoutIt(PlantedDefect defect) {
        assertThat(SimulationSeeds.finding(defect, STEPS_WITH_A_DEFECT, this::simulation))
                .isPresent();
    }

    private ProjectionSimulation<S> simulation(long seed, PlantedDefect defect) {
        return new ProjectionSimulation<>(
                seed, PACE, defect, tested::create, shared -> new SimulatedFleet<>(tested, shared, NODES));
    }
}
