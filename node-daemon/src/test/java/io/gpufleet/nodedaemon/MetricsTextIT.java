package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpufleet.nodedaemon.ExpfmtCheck.Parsed;
import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.http.DcgmPage;
import io.gpufleet.nodedaemon.http.MetricsPage;
import io.gpufleet.nodedaemon.http.OfferPage;
import io.gpufleet.nodedaemon.http.ProcessPage;
import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HealthBook;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Offers;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.Surroundings;
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

/** The whole metrics page of a node with eight H100 as Prometheus' own parser reads it. */
class MetricsTextIT {
    /** What dcgm-exporter has on by default, and what is commonly switched on: name and type. */
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

    /** What Grafana's dashboard 12239 draws. */
    private static final Set<String> DASHBOARD_12239 = Set.of(
            "DCGM_FI_DEV_GPU_TEMP",
            "DCGM_FI_DEV_POWER_USAGE",
            "DCGM_FI_DEV_SM_CLOCK",
            "DCGM_FI_DEV_GPU_UTIL",
            "DCGM_FI_DEV_FB_USED",
            "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE");

    private static List<Parsed> samples = List.of();

    @BeforeAll
    static void readThePage() throws Exception {
        ExpfmtCheck.Offer parser = ExpfmtCheck.build();
        assumeTrue(parser.check().isPresent(), parser.reason());
        samples = parser.check().orElseThrow().parse(page());
    }

    /** Eight GPUs at noon: one held, one with an XID that came three times. */
    private static String page() {
        Clock noon = Clock.fixed(Instant.parse("2026-11-20T12:00:00Z"), ZoneOffset.UTC);
        var counters = new Counters();
        try (var source = SimulatedSource.open("n1", "simulated:8xH100", Optional.empty(), noon)) {
            var now = Some.second(1);
            Look look = source.look();
            var devices = DeviceBook.remembering(List.of(), now).after(look, now);
            Gpu first = devices.gpus().getFirst().gpu();
            var holder = new Holder("team-a", "train-0", "uid-0", "main", ResourcePlan.GPU, List.of(first.uuid()));
            var xid = new FaultKey(devices.gpus().get(3).gpu().uuid(), new FaultCode.Xid(79));
            for (int i = 0; i < 3; i++) {
                counters.fault(xid, now.nanos());
            }
            counters.allocated(120);
            counters.deviceCall("look", 2_000_000);
            counters.polled(source.vitals(), now.nanos());
            var health = HealthBook.inheriting(Some.POLICY, List.of(), now);
            var plan = ResourcePlan.of(devices.gpus(), PluginSettings.STANDARD);
            var offers = Offers.NONE.next(plan.devices(), look, health, Surroundings.QUIET, now);
            var readout = new Readout(
                    devices,
                    source.vitals(),
                    now.nanos(),
                    new Holdings(List.of(holder), true),
                    List.of(),
                    offers,
                    List.copyOf(health.open()));
            return DcgmPage.of(readout, counters.tally(), "n1", now.nanos())
                    + OfferPage.of(readout, counters.tally(), now.nanos())
                    + ProcessPage.of(readout, now.nanos())
                    + new MetricsPage()
                            .counters(counters)
                            .node(new NodeLoop.Snapshot(readout, 8, 8, true), now.nanos())
                            .gauges(Map.of("gpufleet_daemon_outbox_bytes", 0L))
                            .text();
        }
    }

    private static List<Parsed> of(String family) {
        return samples.stream().filter(sample -> sample.family().equals(family)).toList();
    }

    @Test
    void everyMetricOfTheListIsThereForEveryGpuWithItsType() {
        DCGM.forEach((name, type) -> {
            assertThat(of(name)).as(name).hasSize(8);
            assertThat(of(name)).as(name).allMatch(sample -> sample.type().equals(type));
        });
    }

    @Test
    void dashboard12239HasWhatItDraws() {
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
    void noSeriesStandsTwiceAndEachHasHelp() {
        Map<String, Long> times = samples.stream()
                .collect(Collectors.groupingBy(
                        sample -> sample.family() + sample.labels(), TreeMap::new, Collectors.counting()));

        assertThat(times)
                .allSatisfy((series, count) -> assertThat(count).as(series).isEqualTo(1));
        assertThat(samples).allMatch(sample -> !sample.help().isBlank());
        assertThat(samples).noneMatch(sample -> sample.type().equals("UNTYPED"));
    }

    @Test
    void repeatedXidCountsEveryTime() {
        assertThat(of("DCGM_EXP_XID_ERRORS_TOTAL"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.value()).isEqualTo(3));
        assertThat(of("gpufleet_gpu_faults_observed_total"))
                .hasSize(8)
                .extracting(Parsed::value)
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
                .containsExactly("look");
    }
}
