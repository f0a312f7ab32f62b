package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode.WithoutCode;
import io.gpufleet.nodedaemon.model.fault.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NvmlFaultReporterTest {
    private final NvmlFailure hung = new NvmlFailure("nvmlDeviceGetUUID", NvmlReturnCode.HUNG);
    private final List<DeviceEvent> events = new ArrayList<>();
    private final NvmlFaultReporter reportedFaults = new NvmlFaultReporter(events::add);

    @Test
    void everyEventIsReportedAndNoneIsEnded() {
        // When
        reportedFaults.reportEvent("GPU-1", "", new Xid(48), "XID 48");
        reportedFaults.reportEvent("GPU-1", "", new Xid(48), "XID 48");
        reportedFaults.onAnswer("GPU-1");

        // Then
        assertThat(events)
                .hasSize(2)
                .containsOnly(
                        new DeviceEvent.FaultDetected("GPU-1", "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48"));
    }

    @Test
    void hungCallIsReportedOnceAndSoIsItsReturn() {
        // When
        reportedFaults.onFailure("GPU-1", hung);
        reportedFaults.onFailure("GPU-1", hung);
        reportedFaults.onAnswer("GPU-1");
        reportedFaults.onAnswer("GPU-1");

        // Then
        assertThat(events)
                .containsExactly(
                        new DeviceEvent.FaultDetected(
                                "GPU-1",
                                "",
                                new WithoutCode(FaultKind.NVML_HUNG),
                                FaultOrigin.POLL,
                                "nvmlDeviceGetUUID: HUNG"),
                        new DeviceEvent.CauseResolved("GPU-1", new WithoutCode(FaultKind.NVML_HUNG), "calls return"));
    }

    @Test
    void waitThatFailsTwentyThousandTimesIsReportedOnce() {
        // When
        for (int i = 0; i < 20_000; i++) {
            reportedFaults.open(NvmlFaultReporter.NODE, FaultKind.EVENT_WAIT, "wait for NVML events failed");
        }

        // Then
        assertThat(events)
                .containsExactly(new DeviceEvent.FaultDetected(
                        "",
                        "",
                        new WithoutCode(FaultKind.EVENT_WAIT),
                        FaultOrigin.POLL,
                        "wait for NVML events failed"));
    }

    @Test
    void responseOfOneGpuEndsNothingOfAnother() {
        // Given
        reportedFaults.onFailure("GPU-1", hung);
        events.clear();

        // When
        reportedFaults.onAnswer("GPU-2");

        // Then
        assertThat(events).isEmpty();
    }

    @Test
    void thirdHungCallRequestsARestartAfterItsFaultWasReported() {
        // Given
        reportedFaults.onFailure("GPU-1", hung);
        reportedFaults.onFailure("GPU-2", hung);
        reportedFaults.onFailure("GPU-1", hung);
        assertThat(events).noneMatch(DeviceEvent.RestartRequested.class::isInstance);
        events.clear();

        // When
        reportedFaults.onFailure("GPU-3", hung);
        reportedFaults.onFailure("GPU-3", hung);

        // Then
        assertThat(events)
                .containsExactly(
                        new DeviceEvent.FaultDetected(
                                "GPU-3",
                                "",
                                new WithoutCode(FaultKind.NVML_HUNG),
                                FaultOrigin.POLL,
                                "nvmlDeviceGetUUID: HUNG"),
                        new DeviceEvent.RestartRequested("3 NVML calls hang, last one: nvmlDeviceGetUUID: HUNG"));
    }

    @Test
    void callsThatReturnInTimeRequestNoRestart() {
        // Given
        reportedFaults.onFailure("GPU-1", hung);
        reportedFaults.onFailure("GPU-2", hung);

        // When
        reportedFaults.onAnswer("GPU-2");
        reportedFaults.onFailure("GPU-3", hung);

        // Then
        assertThat(events).noneMatch(DeviceEvent.RestartRequested.class::isInstance);
    }

    @Test
    void failureThatReturnsIsLeftToTheModel() {
        // When
        reportedFaults.onFailure("GPU-1", new NvmlFailure("nvmlDeviceGetUUID", 15));
        reportedFaults.onFailure("GPU-1", new NvmlFailure("nvmlDeviceGetUUID", 18));

        // Then
        assertThat(events).isEmpty();
    }
}
