package io.gpufleet.nodedaemon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.DeviceSample;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.DeviceScan.DriverProblem;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.MigInstanceSample;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbeReportTest {
    private static final Gpu GPU = new Gpu(
            new Gpu.Identifiers(
                    "GPU-1", new Unavailable<>("NOT_SUPPORTED"), 0, 0, "00000000:07:00.0", new Known<>("96.00")),
            new Gpu.Product("NVIDIA \"H100\"", "H100", "hopper", "9.0", new Known<>("compute")),
            new Known<>(85_520_809_984L),
            new Gpu.Topology(
                    new Known<>(1),
                    List.of(new Gpu.NvLinkPeer("", 18, true)),
                    new Unavailable<>("NOT_SUPPORTED"),
                    new Unavailable<>("not read")),
            new Gpu.Mig(new Known<>(false), List.of()),
            new Known<>(new VgpuHost("525.60", "r525_00")));

    private static final GpuSample VITALS = new GpuSample(
            "GPU-1",
            new Known<>(true),
            new Known<>(RecoveryAction.GPU_RESET),
            new DeviceSample(
                    new DeviceSample.Utilization(new Known<>(97), new Known<>(40)),
                    new Known<>(1L << 30),
                    new DeviceSample.Power(new Unavailable<>("NO_PERMISSION"), new Known<>(5L)),
                    new Known<>(61),
                    new DeviceSample.Clocks(new Known<>(1980), new Known<>(2619), new Known<>(4L)),
                    new Known<>(0L)),
            GpuMetricReadings.NONE,
            HealthReadings.unavailable("not read"),
            new Known<>(List.of(
                    new ComputeProcess(7, "GPU-1", new Known<>(64L), new ProcessOwner.Pod("uid-a")),
                    new ComputeProcess(8, "GPU-1", new Unavailable<>("NOT_AVAILABLE"), new ProcessOwner.Host()))),
            List.of());

    private static final ResourcePlan PLAN = ResourcePlan.of(
            List.of(new KnownGpu(GPU, new KnownGpu.Presence.Answering())),
            new PluginSettings(
                    MigStrategy.NONE,
                    new SharingSettings(
                            SharingSettings.SharingMode.TIME_SLICING,
                            true,
                            false,
                            List.of(new SharingSettings.SharedResource(
                                    ResourcePlan.GPU, "", new SharingSettings.DeviceSelector.All(), 4))),
                    ReplicaAllocationPolicy.DISTRIBUTED,
                    AllocateSettings.DEFAULT,
                    XidOverrides.NONE));

    private final ProbeReport seen = new ProbeReport(
            new DeviceScan.ScanSucceeded(
                    "570.124.06",
                    "12.8",
                    List.of(GPU),
                    List.of(new DeviceScan.LostGpu(1, "00000000:0F:00.0", "GPU_IS_LOST"))),
            List.of(VITALS),
            PLAN,
            "environment");

    @Test
    void tableHasOneRowPerGpuAndExplainsDashes() {
        assertThat(seen.table()).isEqualTo("""
                        driver 570.124.06, CUDA 12.8, 1 GPUs, 1 lost

                        GPU  UUID   MODEL          PCI BUS ID        NUMA  CC   MIG  NVLINKS  MEMORY MiB  UTIL %  TEMP C  POWER W  PROCESSES  RECOVERY
                        0    GPU-1  NVIDIA "H100"  00000000:07:00.0  1     9.0  off  18       81559       97      61      -        2          GPU_RESET

                        resources by settings of environment
                        RESOURCE               DEVICES  SHARED BY  OFFERED
                        nvidia.com/gpu.shared  1        4          4

                        GPU 0: driver recommends GPU_RESET

                        GPU 1 at 00000000:0F:00.0 does not respond: GPU_IS_LOST

                        NOT_SUPPORTED: serial, fabricClique
                        not read: pciRoute
                        NO_PERMISSION: powerMilliwatts
                        """);
    }

    @Test
    void jsonHasReasonsInPlaceOfUnavailableValues() throws Exception {
        // When
        JsonNode json = JsonMapper.builder().build().readTree(seen.json());

        // Then
        JsonNode gpu = json.get("gpus").get(0);
        assertThat(json.get("driver").asText()).isEqualTo("570.124.06");
        assertThat(gpu.get("model").asText()).isEqualTo("NVIDIA \"H100\"");
        assertThat(gpu.get("memoryBytes").asLong()).isEqualTo(85_520_809_984L);
        assertThat(gpu.get("serial").get("unavailable").asText()).isEqualTo("NOT_SUPPORTED");
        assertThat(gpu.get("migEnabled").isBoolean()).isTrue();
        assertThat(gpu.get("links").get(0).get("peer").asText()).isEqualTo("switch");
        assertThat(gpu.get("recoveryAction").asText()).isEqualTo("GPU_RESET");
        assertThat(gpu.get("powerMilliwatts").get("unavailable").asText()).isEqualTo("NO_PERMISSION");
        assertThat(gpu.get("health").get("nvlinksDown").get("unavailable").asText())
                .isEqualTo("not read");
        assertThat(gpu.get("processes").get(0).toString())
                .isEqualTo("{\"pid\":7,\"device\":\"GPU-1\",\"usedBytes\":64,\"owner\":\"pod\",\"podUid\":\"uid-a\"}");
        assertThat(gpu.get("processes").get(1).get("owner").asText()).isEqualTo("host");
        assertThat(json.get("resources").get(0).get("offered").asInt()).isEqualTo(4);
        assertThat(json.get("lost").get(0).get("index").asInt()).isEqualTo(1);
    }

    @Test
    void migInstancesHaveATableAndAllTheirReadings() throws Exception {
        // Given
        var share = new MigInstance.Attributes(
                5L << 30, 14, new MigInstance.Slices(1, 1), new MigInstance.Engines(1, 0, 0, 0, 0));
        var instance = new MigInstance(
                "MIG-1",
                "1g.5gb",
                0,
                7,
                0,
                share,
                List.of("/dev/nvidia-caps/nvidia-cap66"),
                new Unavailable<>("not read"));
        Gpu split = GPU.withMig(new Known<>(true), List.of(instance));
        GpuSample samples = new GpuSample(
                "GPU-1",
                VITALS.answers(),
                VITALS.recoveryAction(),
                new DeviceSample(
                        new DeviceSample.Utilization(
                                VITALS.device().utilization().gpu(),
                                VITALS.device().utilization().memory()),
                        VITALS.device().memoryUsedBytes(),
                        new DeviceSample.Power(
                                VITALS.device().power().milliwatts(),
                                VITALS.device().power().energyMillijoules()),
                        VITALS.device().temperatureCelsius(),
                        new DeviceSample.Clocks(
                                VITALS.device().clocks().smMhz(),
                                VITALS.device().clocks().memoryMhz(),
                                VITALS.device().clocks().eventReasons()),
                        VITALS.device().pcieReplays()),
                new GpuMetricReadings(Map.of(GpuMetric.MEMORY_TEMPERATURE_CELSIUS, new Known<>(50.0))),
                VITALS.health(),
                VITALS.processes(),
                List.of(new MigInstanceSample(
                        "MIG-1",
                        new GpuMetricReadings(Map.of(GpuMetric.MEMORY_USED_BYTES, new Known<>(3.0 * (1 << 20)))))));
        var report = new ProbeReport(
                new DeviceScan.ScanSucceeded("570", "12.8", List.of(split), List.of()),
                List.of(samples),
                PLAN,
                "environment");

        // Then
        assertThat(report.table()).contains("""

                MIG  UUID   PROFILE  MEMORY MiB  USED MiB  SMS  GI  CI
                0:0  MIG-1  1g.5gb   5120        3         14   7   0
                """);
        JsonNode gpu =
                JsonMapper.builder().build().readTree(report.json()).get("gpus").get(0);
        JsonNode instanceJson = gpu.get("instances").get(0);
        assertThat(gpu.get("metrics").get("memory_temperature_celsius").asDouble())
                .isEqualTo(50);
        assertThat(instanceJson.get("profile").asText()).isEqualTo("1g.5gb");
        assertThat(instanceJson.get("metrics").get("memory_used_bytes").asLong())
                .isEqualTo(3 << 20);
    }

    @Test
    void failedScanIsExplained() throws Exception {
        // Given
        ProbeReport failed = new ProbeReport(
                new DeviceScan.ScanFailed(DriverProblem.NOT_LOADED, "nvmlInit: DRIVER_NOT_LOADED"),
                List.of(),
                new ResourcePlan(List.of(), List.of()),
                "environment");

        // Then
        assertThat(failed.table()).isEqualTo("scan failed, NOT_LOADED: nvmlInit: DRIVER_NOT_LOADED\n");
        assertThat(JsonMapper.builder()
                        .build()
                        .readTree(failed.json())
                        .get("state")
                        .asText())
                .isEqualTo("NOT_LOADED");
    }
}
