package io.gpufleet.nodedaemon.app.device;

import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProcessAttributingSourceTest {
    private static final ProcessOwner POD = new ProcessOwner.Pod("uid-a");
    private static final int RUNS = 100;
    private static final int ENDED = 101;

    private static ComputeProcess process(int pid, ProcessOwner owner) {
        return new ComputeProcess(pid, uuid(0), new Known<>(5L), owner);
    }

    private static Reading<List<ComputeProcess>> owned(Reading<List<ComputeProcess>> byTheDriver) {
        DeviceSource driver = new DeviceSource() {
            @Override
            public String name() {
                return "driver";
            }

            @Override
            public DeviceScan scan() {
                return new DeviceScan.ScanSucceeded("", "", List.of(), List.of());
            }

            @Override
            public List<DeviceEvent> await(Duration atMost) {
                return List.of();
            }

            @Override
            public List<GpuSample> sample() {
                return List.of(
                        GpuSampleBuilder.healthyGpu(0).processes(byTheDriver).build());
            }

            @Override
            public void release() {}

            @Override
            public void close() {}
        };
        try (var source =
                new ProcessAttributingSource(driver, pid -> pid == RUNS ? Optional.of(POD) : Optional.empty())) {
            return source.sample().getFirst().processes();
        }
    }

    @Test
    void processHasItsPodAndEndedProcessIsDropped() {
        assertThat(owned(new Known<>(
                        List.of(process(RUNS, ComputeProcess.NOT_ASKED), process(ENDED, ComputeProcess.NOT_ASKED)))))
                .isEqualTo(new Known<>(List.of(process(RUNS, POD))));
    }

    @Test
    void unavailableProcessesStayUnavailable() {
        assertThat(owned(new Unavailable<>("NO_PERMISSION"))).isEqualTo(new Unavailable<>("NO_PERMISSION"));
    }
}
