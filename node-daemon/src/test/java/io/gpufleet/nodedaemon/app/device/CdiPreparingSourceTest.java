package io.gpufleet.nodedaemon.app.device;

import static io.gpufleet.nodedaemon.model.device.TestGpus.gpu;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CdiPreparingSourceTest {
    private static final SettingsSelector STANDARD = SettingsSelector.fixed(PluginSettings.DEFAULT, "test");
    private static final SettingsSelector CDI = SettingsSelector.fixed(
            PluginSettings.DEFAULT.with(AllocateSettings.DEFAULT.with(Set.of(DeviceListStrategy.CDI_CRI))), "test");

    private final List<String> order = new ArrayList<>();
    private final List<HostDeviceNodes> found = new ArrayList<>();
    private List<String> described = List.of();
    private HostDeviceNodes host = HostDeviceNodes.of(List.of());
    private DeviceScan next = scanOf(2);

    private final class FakeScanSource implements DeviceSource {
        @Override
        public String name() {
            return "scripted";
        }

        @Override
        public DeviceScan scan() {
            return next;
        }

        @Override
        public List<DeviceEvent> await(Duration atMost) {
            return List.of();
        }

        @Override
        public List<GpuSample> sample() {
            return List.of();
        }

        @Override
        public void release() {}

        @Override
        public void close() {}
    }

    private static SettingsSelector selecting(DeviceListStrategy... strategies) {
        return SettingsSelector.fixed(
                PluginSettings.DEFAULT.with(AllocateSettings.DEFAULT.with(Set.of(strategies))), "test");
    }

    private CdiPreparingSource preparing(SettingsSelector selector) {
        return new CdiPreparingSource(
                new FakeScanSource(),
                _ -> host,
                devices -> {
                    order.add("written");
                    described = devices.gpus().stream().map(Gpu::uuid).toList();
                    return new CdiNames(Set.copyOf(described), "");
                },
                (root, version) ->
                        List.of(new Mount(root + "libcuda.so." + version, "/usr/local/nvidia/lib64/libcuda.so.1")),
                selector,
                input -> {
                    order.add("reported");
                    found.add(((NodeLoopInput.HostDeviceNodesChanged) input).nodes());
                });
    }

    @Test
    void specIsWrittenBeforeDevicesAreReported() {
        DeviceScan scan = preparing(CDI).scan();

        assertThat(scan).isEqualTo(next);
        assertThat(order).containsExactly("written", "reported");
        assertThat(found.getLast().cdi().written()).containsExactlyInAnyOrder(uuid(0), uuid(1));
    }

    @Test
    void noSpecIsWrittenWithoutACdiStrategy() {
        preparing(STANDARD).scan();

        assertThat(order).isEmpty();
    }

    @Test
    void driverInTheHostsOwnDirectoriesIsMountedFileByFileAndNotWithCdi() {
        // Given
        preparing(selecting(DeviceListStrategy.HOST_MOUNTS)).scan();

        assertThat(found.getLast().driver().files())
                .containsExactly(new Mount("/libcuda.so.570.124.06", "/usr/local/nvidia/lib64/libcuda.so.1"));

        // When
        preparing(selecting(DeviceListStrategy.HOST_MOUNTS, DeviceListStrategy.CDI_CRI))
                .scan();

        // Then
        assertThat(found.getLast().driver().files()).isEmpty();
    }

    @Test
    void filesOfTheDriverAreNoReasonToPrepareAgainAtAPoll() {
        var scans = preparing(selecting(DeviceListStrategy.HOST_MOUNTS));
        scans.scan();

        scans.sample();

        assertThat(found).hasSize(1);
    }

    @Test
    void unchangedHostIsNotReportedAgain() {
        var scans = preparing(CDI);
        scans.scan();
        scans.scan();

        assertThat(found).hasSize(1);
    }

    @Test
    void newDeviceNodeIsReportedWithTheNextPoll() {
        var scans = preparing(STANDARD);
        scans.scan();

        host = HostDeviceNodes.of(List.of("/dev/nvidiactl"));
        scans.sample();

        assertThat(found).extracting(HostDeviceNodes::control).containsExactly(List.of("/dev/nvidiactl"));
    }

    @Test
    void lostGpuStaysInTheSpecAndRemovedGpuDoesNot() {
        var scans = preparing(CDI);
        scans.scan();

        next = new DeviceScan.ScanSucceeded(
                "570.124.06",
                "12.8",
                List.of(gpu(0)),
                List.of(new DeviceScan.LostGpu(1, gpu(1).pciBusId(), "GPU_IS_LOST")));
        scans.scan();
        assertThat(described).containsExactly(uuid(0), uuid(1));

        next = scanOf(1);
        scans.scan();
        assertThat(described).containsExactly(uuid(0));
    }

    @Test
    void failedScanLeavesTheSpecUnchanged() {
        var scans = preparing(CDI);
        scans.scan();

        next = new DeviceScan.ScanFailed(DeviceScan.DriverProblem.NOT_LOADED, "reload");
        scans.scan();

        assertThat(order).containsExactly("written", "reported");
    }

    @Test
    void settingsThatNeedCdiGetTheSpecAtOnce() {
        var scans = preparing(STANDARD);
        scans.scan();

        scans.prepareFor(CDI);

        assertThat(order).containsExactly("written", "reported");
    }

    @Test
    void missingDeviceNodesAreReportedOnceAndWhenTheyAreThere() {
        List<Map<String, String>> reported = new ArrayList<>();
        Map<String, String> absent = new HashMap<>(Map.of("/dev/nvidia-uvm", "load the kernel module"));
        var scans = new CdiPreparingSource(
                new FakeScanSource(),
                new HostDeviceNodeFinder() {
                    @Override
                    public HostDeviceNodes find(String driverRoot) {
                        return HostDeviceNodes.NONE;
                    }

                    @Override
                    public Map<String, String> ensure(String driverRoot, List<Gpu> gpus) {
                        return Map.copyOf(absent);
                    }
                },
                _ -> CdiNames.NOT_WRITTEN,
                (_, _) -> List.of(),
                STANDARD,
                input -> {
                    if (input instanceof NodeLoopInput.DeviceNodesMissing(Map<String, String> reasons)) {
                        reported.add(reasons);
                    }
                });

        scans.scan();
        scans.scan();
        absent.clear();
        scans.scan();

        assertThat(reported).containsExactly(Map.of("/dev/nvidia-uvm", "load the kernel module"), Map.of());
    }
}
