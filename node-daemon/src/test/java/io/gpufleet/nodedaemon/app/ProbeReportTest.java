package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Look.DriverTrouble;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.SliceVitals;
import io.gpufleet.nodedaemon.model.VgpuHost;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What probe prints. */
class ProbeReportTest {
    private static final Gpu GPU = new Gpu(
            "GPU-1",
            new Unavailable<>("NOT_SUPPORTED"),
            0,
            0,
            "00000000:07:00.0",
            "NVIDIA \"H100\"",
            "H100",
            "hopper",
            "9.0",
            new Known<>(85_520_809_984L),
            new Known<>("96.00"),
            new Known<>(1),
            new Known<>(false),
            List.of(new Gpu.Link("", 18, true)),
            new Unavailable<>("NOT_SUPPORTED"),
            new Known<>("compute"),
            List.of(),
            new Unavailable<>("not read"),
            new Known<>(new VgpuHost("525.60", "r525_00")));

    private static final Vitals VITALS = new Vitals(
            "GPU-1",
            new Known<>(true),
            new Known<>(RecoveryAction.GPU_RESET),
            new Known<>(97),
            new Known<>(40),
            new Known<>(1L << 30),
            new Unavailable<>("NO_PERMISSION"),
            new Known<>(61),
            new Known<>(1980),
            new Known<>(2619),
            new Known<>(5L),
            new Known<>(0L),
            new Known<>(4L),
            Meters.NONE,
            Conditions.unavailable("not read"),
            new Known<>(List.of(
                    new ComputeProcess(7, "GPU-1", new Known<>(64L), new ProcessOwner.Pod("uid-a")),
                    new ComputeProcess(8, "GPU-1", new Unavailable<>("NOT_AVAILABLE"), new ProcessOwner.Host()))),
            List.of());

    private static final ResourcePlan PLAN = ResourcePlan.of(
            List.of(new KnownGpu(GPU, new KnownGpu.Presence.Answering())),
            new PluginSettings(
                    MigStrategy.NONE,
                    new SharePlan(
                            SharePlan.Means.TIME_SLICING,
                            true,
                            false,
                            List.of(new SharePlan.SharedResource(ResourcePlan.GPU, "", new SharePlan.Pick.All(), 4))),
                    ReplicaOrder.DISTRIBUTED,
                    AllocateSettings.STANDARD,
                    XidOverrides.NONE));

    private final ProbeReport seen = new ProbeReport(
            new Look.Seen(
                    "570.124.06",
                    "12.8",
                    List.of(GPU),
                    List.of(new Look.LostGpu(1, "00000000:0F:00.0", "GPU_IS_LOST"))),
            List.of(VITALS),
            PLAN,
            "environment");

    @Test
    void theTableHasARowAGpuAndSaysWhyThereAreDashes() {
        assertThat(seen.table()).isEqualTo("""
                        driver 570.124.06, CUDA 12.8, 1 GPUs, 1 lost

                        GPU  UUID   MODEL          PCI BUS ID        NUMA  CC   MIG  NVLINKS  MEMORY MiB  UTIL %  TEMP C  POWER W  PROCESSES  RECOVERY
                        0    GPU-1  NVIDIA "H100"  00000000:07:00.0  1     9.0  off  18       81559       97      61      -        2          GPU_RESET

                        as environment says
                        RESOURCE               DEVICES  SHARED BY  OFFERED
                        nvidia.com/gpu.shared  1        4          4

                        GPU 0: the driver asks for GPU_RESET

                        GPU 1 at 00000000:0F:00.0 does not answer: GPU_IS_LOST

                        NOT_SUPPORTED: serial, fabricClique
                        not read: pciRoute
                        NO_PERMISSION: powerMilliwatts
                        """);
    }

    @Test
    void theJsonSaysTheSameWithReasonsInPlaceOfValues() throws Exception {
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
        assertThat(gpu.get("conditions").get("linksDown").get("unavailable").asText())
                .isEqualTo("not read");
        assertThat(gpu.get("processes").get(0).toString())
                .isEqualTo("{\"pid\":7,\"device\":\"GPU-1\",\"usedBytes\":64,\"owner\":\"pod\",\"podUid\":\"uid-a\"}");
        assertThat(gpu.get("processes").get(1).get("owner").asText()).isEqualTo("host");
        assertThat(json.get("resources").get(0).get("offered").asInt()).isEqualTo(4);
        assertThat(json.get("lost").get(0).get("index").asInt()).isEqualTo(1);
    }

    @Test
    void instancesHaveATableAndAllTheirReadings() throws Exception {
        // Given
        var share = new MigInstance.Attributes(5L << 30, 14, 1, 1, 1, 0, 0, 0, 0);
        var instance = new MigInstance(
                "MIG-1",
                "1g.5gb",
                0,
                7,
                0,
                share,
                List.of("/dev/nvidia-caps/nvidia-cap66"),
                new Unavailable<>("not read"));
        Gpu split = GPU.partitioned(new Known<>(true), List.of(instance));
        Vitals vitals = new Vitals(
                "GPU-1",
                VITALS.answers(),
                VITALS.recoveryAction(),
                VITALS.gpuUtilizationPercent(),
                VITALS.memoryUtilizationPercent(),
                VITALS.memoryUsedBytes(),
                VITALS.powerMilliwatts(),
                VITALS.temperatureCelsius(),
                VITALS.smClockMhz(),
                VITALS.memoryClockMhz(),
                VITALS.energyMillijoules(),
                VITALS.pcieReplays(),
                VITALS.clockEventReasons(),
                new Meters(Map.of(Meter.MEMORY_TEMPERATURE_CELSIUS, new Known<>(50.0))),
                VITALS.conditions(),
                VITALS.processes(),
                List.of(new SliceVitals(
                        "MIG-1", new Meters(Map.of(Meter.MEMORY_USED_BYTES, new Known<>(3.0 * (1 << 20)))))));
        var report = new ProbeReport(
                new Look.Seen("570", "12.8", List.of(split), List.of()), List.of(vitals), PLAN, "environment");

        // Then
        assertThat(report.table()).contains("""

                MIG  UUID   PROFILE  MEMORY MiB  USED MiB  SMS  GI  CI
                0:0  MIG-1  1g.5gb   5120        3         14   7   0
                """);
        JsonNode gpu =
                JsonMapper.builder().build().readTree(report.json()).get("gpus").get(0);
        JsonNode slice = gpu.get("instances").get(0);
        assertThat(gpu.get("meters").get("memory_temperature_celsius").asDouble())
                .isEqualTo(50);
        assertThat(slice.get("profile").asText()).isEqualTo("1g.5gb");
        assertThat(slice.get("meters").get("memory_used_bytes").asLong()).isEqualTo(3 << 20);
    }

    @Test
    void aBlindNodeSaysWhy() throws Exception {
        // Given
        ProbeReport blind = new ProbeReport(
                new Look.Blind(DriverTrouble.NOT_LOADED, "nvmlInit: DRIVER_NOT_LOADED"),
                List.of(),
                new ResourcePlan(List.of(), List.of()),
                "environment");

        // Then
        assertThat(blind.table()).isEqualTo("no devices can be seen, NOT_LOADED: nvmlInit: DRIVER_NOT_LOADED\n");
        assertThat(JsonMapper.builder()
                        .build()
                        .readTree(blind.json())
                        .get("state")
                        .asText())
                .isEqualTo("NOT_LOADED");
    }
}
