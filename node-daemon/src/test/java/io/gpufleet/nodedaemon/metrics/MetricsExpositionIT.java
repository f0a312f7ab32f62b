package io.gpufleet.nodedaemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.metrics.ExpfmtParser.ParsedSample;
import io.gpufleet.nodedaemon.model.allocation.OfferConstraints;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevices;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.simulated.SimulatedSource;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The metrics page of a node with eight H100, parsed by Prometheus' own parser. */
class MetricsExpositionIT {
    /** Metrics that dcgm-exporter has by default or that are commonly enabled: name and type. */
    private static final Map<String, String> DCGM = new TreeMap<>(Map.ofEntries(
            Map.entry("DCGM_FI_DEV_SM_CLOCK", "GAUGE"),
            Map.entry("DCGM_FI_DEV_MEM_CLOCK", "GAUGE"),
            Map.entry("DCGM_FI_DEV_GPU_TEMP", "GAUGE"),
            Map.entry("DCGM_FI_DEV_MEMORY_TEMP", "GAUGE"),
            Map.entry("DCGM_FI_DEV_POWER_USAGE", "GAUGE"),
            Map.entry("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "COUNTER"),
            Map.entry("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "COUNTER"),
            Map.entry("DCGM_FI_DEV_GPU_UTIL", "GAUGE"),
            Map.entry("DCGM_FI_DEV_MEM_COPY_UTIL", "GAUGE"),
            Map.entry("DCGM_FI_DEV_ENC_UTIL", "GAUGE"),
            Map.entry("DCGM_FI_DEV_DEC_UTIL", "GAUGE"),
            Map.entry("DCGM_FI_DEV_XID_ERRORS", "GAUGE"),
            Map.entry("DCGM_FI_DEV_FB_FREE", "GAUGE"),
            Map.entry("DCGM_FI_DEV_FB_USED", "GAUGE"),
            Map.entry("DCGM_FI_DEV_FB_RESERVED", "GAUGE"),
            Map.entry("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "COUNTER"),
            Map.entry("DCGM_FI_DEV_VGPU_LICENSE_STATUS", "GAUGE"),
            Map.entry("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "COUNTER"),
            Map.entry("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "COUNTER"),
            Map.entry("DCGM_FI_DEV_ROW_REMAP_FAILURE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_DRAM_ACTIVE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_PCIE_TX_BYTES", "GAUGE"),
            Map.entry("DCGM_FI_PROF_PCIE_RX_BYTES", "GAUGE"),
            Map.entry("DCGM_FI_DEV_POWER_VIOLATION", "COUNTER"),
            Map.entry("DCGM_FI_DEV_THERMAL_VIOLATION", "COUNTER"),
            Map.entry("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "COUNTER"),
            Map.entry("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "COUNTER"),
            Map.entry("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "COUNTER"),
            Map.entry("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "COUNTER"),
            Map.entry("DCGM_FI_PROF_SM_ACTIVE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_SM_OCCUPANCY", "GAUGE"),
            Map.entry("DCGM_FI_PROF_PIPE_FP64_ACTIVE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_PIPE_FP32_ACTIVE", "GAUGE"),
            Map.entry("DCGM_FI_PROF_PIPE_FP16_ACTIVE", "GAUGE"),
            Map.entry("DCGM_EXP_GPU_HEALTH_STATUS", "GAUGE")));

    /** Metrics of Grafana's dashboard 12239. */
    private static final Set<String> DASHBOARD_12239 = Set.of(
            "DCGM_FI_DEV_GPU_TEMP",
            "DCGM_FI_DEV_POWER_USAGE",
            "DCGM_FI_DEV_SM_CLOCK",
            "DCGM_FI_DEV_GPU_UTIL",
            "DCGM_FI_DEV_FB_USED",
            "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE");

    private static List<ParsedSample> samples = List.of();

    @BeforeAll
    static void readThePage() throws Exception {
        ExpfmtParser.ParserAvailability parser = ExpfmtParser.build();
        assumeTrue(parser.parser().isPresent(), parser.reason());
        samples = parser.parser().orElseThrow().parse(page());
    }

    /** Eight GPUs: one has a holder, one had the same XID three times. */
    private static String page() {
        Clock noon = Clock.fixed(Instant.parse("2026-11-20T12:00:00Z"), ZoneOffset.UTC);
        var counters = new DaemonCounters();
        try (var source = SimulatedSource.open("n1", "simulated:8xH100", Optional.empty(), noon)) {
            var now = TestGpus.second(1);
            DeviceScan scan = source.scan();
            var devices = DeviceInventory.restored(List.of(), now).after(scan, now);
            Gpu first = devices.gpus().getFirst().gpu();
            var holder = new Holder("team-a", "train-0", "uid-0", "main", ResourcePlan.GPU, List.of(first.uuid()));
            var xid = new FaultKey(devices.gpus().get(3).gpu().uuid(), new FaultCode.Xid(79));
            for (int i = 0; i < 3; i++) {
                counters.fault(xid, now.nanos());
            }
            counters.allocated(120);
            counters.deviceCall("scan", 2_000_000);
            counters.polled(source.sample(), now.nanos());
            var health = OpenFaults.restored(TestGpus.POLICY, List.of(), now);
            var plan = ResourcePlan.of(devices.gpus(), PluginSettings.DEFAULT);
            var offers = OfferedDevices.NONE.next(plan.devices(), scan, health, OfferConstraints.NONE, now);
            var readout = new NodeSnapshot(
                    devices,
                    source.sample(),
                    now.nanos(),
                    new Holdings(List.of(holder), true),
                    List.of(),
                    offers,
                    List.copyOf(health.open()));
            return DcgmMetricsPage.render(readout, counters.faultCounters(), "n1", now.nanos())
                    + GpuHealthMetricsPage.render(readout, counters.faultCounters(), now.nanos())
                    + ProcessMetricsPage.render(readout, now.nanos())
                    + new DaemonMetricsPage()
                            .build(BuildInfo.current())
                            .counters(counters)
                            .node(new NodeLoop.LoopStatus(readout, 8, 8, true), now.nanos())
                            .gauges(Map.of("gpufleet_daemon_outbox_bytes", 0L))
                            .text();
        }
    }

    private static List<ParsedSample> of(String family) {
        return samples.stream().filter(sample -> sample.family().equals(family)).toList();
    }

    @Test
    void everyGpuHasEveryListedMetricWithItsType() {
        DCGM.forEach((name, type) -> {
            assertThat(of(name)).as(name).hasSize(8);
            assertThat(of(name)).as(name).allMatch(sample -> sample.type().equals(type));
        });
    }

    @Test
    void buildIsExported() {
        assertThat(of("gpufleet_build_info")).singleElement().satisfies(sample -> {
            assertThat(sample.value()).isEqualTo(1);
            assertThat(sample.labels()).containsOnlyKeys("revision", "version");
        });
    }

    @Test
    void dashboard12239HasItsMetrics() {
        for (String name : DASHBOARD_12239) {
            assertThat(of(name))
                    .as(name)
                    .extracting(sample -> sample.labels().get("gpu"))
                    .containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5", "6", "7");
        }
    }

    @Test
    void bothSpellingsOfTheHostnameSelectEverySeries() {
        assertThat(samples)
                .filteredOn(sample -> sample.family().startsWith("DCGM_"))
                .isNotEmpty()
                .allMatch(sample -> "n1".equals(sample.labels().get("hostname"))
                        && "n1".equals(sample.labels().get("Hostname")));
    }

    @Test
    void seriesAreUniqueAndHaveHelp() {
        Map<String, Long> times = samples.stream()
                .collect(Collectors.groupingBy(
                        sample -> sample.family() + sample.labels(), TreeMap::new, Collectors.counting()));

        assertThat(times)
                .allSatisfy((series, count) -> assertThat(count).as(series).isEqualTo(1));
        assertThat(samples).allMatch(sample -> !sample.help().isBlank());
        assertThat(samples).noneMatch(sample -> sample.type().equals("UNTYPED"));
    }

    @Test
    void repeatedXidCountsAgain() {
        assertThat(of("DCGM_EXP_XID_ERRORS_TOTAL"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.value()).isEqualTo(3));
        assertThat(of("gpufleet_gpu_faults_observed_total"))
                .hasSize(8)
                .extracting(ParsedSample::value)
                .contains(3.0, 0.0);
        assertThat(of("DCGM_FI_DEV_XID_ERRORS"))
                .extracting(sample -> sample.labels().get("err_code"))
                .contains("79", "0");
    }

    @Test
    void latenciesAreHistogramsInSeconds() {
        assertThat(of("gpufleet_daemon_allocation_duration_seconds"))
                .singleElement()
                .satisfies(sample -> {
                    assertThat(sample.type()).isEqualTo("HISTOGRAM");
                    assertThat(sample.value()).isEqualTo(1);
                });
        assertThat(of("gpufleet_daemon_device_call_duration_seconds"))
                .extracting(sample -> sample.labels().get("call"))
                .containsExactly("scan");
    }
}
