package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AttributedSourceTest {
    private static final ProcessOwner POD = new ProcessOwner.Pod("uid-a");
    private static final int RUNS = 100;
    private static final int ENDED = 101;

    private static ComputeProcess process(int pid, ProcessOwner owner) {
        return new ComputeProcess(pid, uuid(0), new Known<>(5L), owner);
    }

    private static Reading<List<ComputeProcess>> told(Reading<List<ComputeProcess>> byTheDriver) {
        DeviceSource driver = new DeviceSource() {
            @Override
            public String name() {
                return "driver";
            }

            @Override
            public Look look() {
                return new Look.Seen("", "", List.of(), List.of());
            }

            @Override
            public List<Sign> await(Duration atMost) {
                return List.of();
            }

            @Override
            public List<Vitals> vitals() {
                return List.of(SomeVitals.well(0).processes(byTheDriver).now());
            }

            @Override
            public void release() {}

            @Override
            public void close() {}
        };
        try (var source = new AttributedSource(driver, pid -> pid == RUNS ? Optional.of(POD) : Optional.empty())) {
            return source.vitals().getFirst().processes();
        }
    }

    @Test
    void processIsToldWithItsPodAndOneThatEndedMeanwhileIsNot() {
        assertThat(told(new Known<>(
                        List.of(process(RUNS, ComputeProcess.NOT_ASKED), process(ENDED, ComputeProcess.NOT_ASKED)))))
                .isEqualTo(new Known<>(List.of(process(RUNS, POD))));
    }

    @Test
    void notHavingLookedIsNotHavingSeenNobody() {
        assertThat(told(new Unavailable<>("NO_PERMISSION"))).isEqualTo(new Unavailable<>("NO_PERMISSION"));
    }
}
