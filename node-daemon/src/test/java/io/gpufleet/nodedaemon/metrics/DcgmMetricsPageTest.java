package io.gpufleet.nodedaemon.metrics;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevices;
import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.DeviceSample;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.MigInstanceSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class DcgmMetricsPageTest {
    private static final String GPUS = "nvidia.com/gpu";

    private final DaemonCounters counters = new DaemonCounters();

    private static Holder holder(String pod, String resource, String... ids) {
        return new Holder("team-a", pod, "uid-" + pod, "main", resource, List.of(ids));
    }

    private static GpuSample sample(int gpu, GpuMetricReadings meters, List<MigInstanceSample> slices) {
        return new GpuSample(
                uuid(gpu),
                new Known<>(true),
                new Known<>(RecoveryAction.NONE),
                new DeviceSample(
                        new DeviceSample.Utilization(new Known<>(40), new Known<>(20)),
                        new Known<>(30L << 30),
                        new DeviceSample.Power(new Known<>(300_500), new Known<>(1_000_000L)),
                        new Known<>(55),
                        new DeviceSample.Clocks(new Known<>(1980), new Known<>(2619), new Known<>(0L)),
                        new Known<>(3L)),
                meters,
                HealthReadings.unavailable("not read"),
                new Reading.Unavailable<>("not read"),
                slices);
    }

    private static NodeSnapshot snapshot(Gpu gpu, GpuSample samples, Holder... holders) {
        var scan = new DeviceScan.ScanSucceeded("570.124.06", "12.8", List.of(gpu), List.of());
        return new NodeSnapshot(
                DeviceInventory.restored(List.of(), second(0)).after(scan, second(0)),
                List.of(samples),
                second(0).nanos(),
                new Holdings(List.of(holders), true),
                List.of(),
                OfferedDevices.NONE,
                List.of());
    }

    private static NodeSnapshot plain(Holder... holders) {
        return snapshot(TestGpus.gpu(0), sample(0, GpuMetricReadings.NONE, List.of()), holders);
    }

    private String page(NodeSnapshot snapshot) {
        return DcgmMetricsPage.render(
                snapshot, counters.faultCounters(), "n1", second(1).nanos());
    }

    private List<MetricSample> samples(NodeSnapshot snapshot, String name) {
        return MetricSample.of(page(snapshot), name);
    }

    @Test
    void seriesHasTheLabelsOfDashboards() {
        assertThat(samples(plain(holder("train", GPUS, uuid(0))), "DCGM_FI_DEV_GPU_TEMP"))
                .containsExactly(new MetricSample(
                        "DCGM_FI_DEV_GPU_TEMP",
                        Map.ofEntries(
                                Map.entry("gpu", "0"),
                                Map.entry("UUID", uuid(0)),
                                Map.entry("pci_bus_id", "00000000:00:00.0"),
                                Map.entry("device", "nvidia0"),
                                Map.entry("modelName", "NVIDIA H100 80GB HBM3"),
                                Map.entry("hostname", "n1"),
                                Map.entry("Hostname", "n1"),
                                Map.entry("DCGM_FI_DRIVER_VERSION", "570.124.06"),
                                Map.entry("container", "main"),
                                Map.entry("namespace", "team-a"),
                                Map.entry("pod", "train"),
                                Map.entry("pod_uid", "uid-train")),
                        55));
    }

    @Test
    void unitsAreThoseOfDcgm() {
        String page = page(plain());

        assertThat(MetricSample.of(page, "DCGM_FI_DEV_POWER_USAGE").getFirst().value())
                .isEqualTo(300.5);
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_FB_USED").getFirst().value())
                .isEqualTo(30 << 10);
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
                        .getFirst()
                        .value())
                .isEqualTo(1_000_000);
        assertThat(page)
                .contains("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter")
                .contains("# TYPE DCGM_FI_DEV_POWER_USAGE gauge");
    }

    @Test
    void nvlinkBandwidthIsARateInThousandsOfKibibytes() {
        var readings = new GpuMetricReadings(Map.of(
                GpuMetric.NVLINK_BYTES_PER_SECOND, new Known<>(5_000.0 * 1024),
                GpuMetric.NVLINK_BYTES_TOTAL, new Known<>(9e15)));

        assertThat(samples(
                        snapshot(TestGpus.gpu(0), sample(0, readings, List.of())),
                        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"))
                .extracting(MetricSample::value)
                .containsExactly(5.0);
    }

    @Test
    void unavailableReadingHasNoSample() {
        assertThat(samples(plain(), "DCGM_FI_PROF_DRAM_ACTIVE")).isEmpty();
    }

    @Test
    void everyHolderOfASharedGpuHasASeriesAndSumsAreRight() {
        // Given three replicas of one GPU, two of them in one pod
        String page =
                page(plain(holder("a", GPUS, uuid(0) + "::0", uuid(0) + "::3"), holder("b", GPUS, uuid(0) + "::1")));

        // Then watts and bytes sum up to the GPU's, and a pod has as many shares of them as replicas
        List<MetricSample> power = MetricSample.of(page, "DCGM_FI_DEV_POWER_USAGE");
        assertThat(power)
                .extracting(sample -> sample.label("pod") + sample.label("vgpu"))
                .containsExactlyInAnyOrder("a0", "a3", "b1");
        assertThat(power.stream().mapToDouble(MetricSample::value).sum()).isCloseTo(300.5, within());
        assertThat(power.stream()
                        .filter(sample -> sample.label("pod").equals("a"))
                        .mapToDouble(MetricSample::value)
                        .sum())
                .isCloseTo(300.5 * 2 / 3, within());

        // And states are the GPU's own for every holder, so that averages and thresholds are right
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_GPU_TEMP"))
                .extracting(MetricSample::value)
                .containsExactly(55.0, 55.0, 55.0);

        // And counters have one series, without a pod
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"))
                .singleElement()
                .satisfies(sample -> {
                    assertThat(sample.value()).isEqualTo(1_000_000);
                    assertThat(sample.labels()).doesNotContainKeys("pod", "vgpu");
                });
    }

    private static Offset<Double> within() {
        return Offset.offset(1e-9);
    }

    @Test
    void onlyHolderOfASharedGpuDoesNotOwnItsCounters() {
        NodeSnapshot snapshot = plain(holder("a", GPUS, uuid(0) + "::0"));

        assertThat(samples(snapshot, "DCGM_FI_DEV_POWER_USAGE"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.label("vgpu")).isEqualTo("0"));
        assertThat(samples(snapshot, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.labels()).doesNotContainKey("pod"));
    }

    private static MigInstance instance(int id, String profile, int slices) {
        return new MigInstance(
                "MIG-" + id,
                profile,
                id,
                7 + id,
                0,
                new MigInstance.Attributes(
                        (long) slices * 10 << 30,
                        16,
                        new MigInstance.Slices(slices, slices),
                        new MigInstance.Engines(1, 0, 0, 0, 0)),
                List.of(),
                new Reading.Unavailable<>("not read"));
    }

    private static NodeSnapshot partitioned(Holder... holders) {
        Gpu gpu = TestGpus.gpu(0)
                .withMig(new Known<>(true), List.of(instance(0, "1g.10gb", 1), instance(1, "3g.40gb", 3)));
        var slices = List.of(
                new MigInstanceSample(
                        "MIG-0",
                        new GpuMetricReadings(Map.of(GpuMetric.MEMORY_USED_BYTES, new Known<>((double) (1L << 30))))),
                new MigInstanceSample(
                        "MIG-1",
                        new GpuMetricReadings(Map.of(GpuMetric.MEMORY_USED_BYTES, new Known<>((double) (5L << 30))))));
        return snapshot(gpu, sample(0, GpuMetricReadings.NONE, slices), holders);
    }

    @Test
    void instancesHaveSeriesOfTheirOwnAndTheGpuHasNone() {
        String page = page(partitioned(holder("a", "nvidia.com/mig-1g.10gb", "MIG-0")));

        assertThat(MetricSample.of(page, "DCGM_FI_DEV_FB_USED"))
                .extracting(
                        sample -> sample.label("GPU_I_PROFILE"),
                        sample -> sample.label("GPU_I_ID"),
                        sample -> sample.label("pod"),
                        MetricSample::value)
                .containsExactly(tuple("1g.10gb", "7", "a", 1024.0), tuple("3g.40gb", "8", "", 5120.0));
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_FB_USED"))
                .allMatch(sample -> sample.label("UUID").equals(uuid(0)));
    }

    @Test
    void powerOfAPartitionedGpuIsReportedOnceAndItsTemperatureForEveryInstance() {
        String page = page(partitioned(holder("a", "nvidia.com/mig-1g.10gb", "MIG-0")));

        assertThat(MetricSample.of(page, "DCGM_FI_DEV_POWER_USAGE"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.labels()).doesNotContainKeys("GPU_I_ID", "pod"));
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_GPU_TEMP"))
                .extracting(sample -> sample.label("GPU_I_ID") + sample.label("pod"))
                .containsExactly("7a", "8");
    }

    @Test
    void lastXidHasItsDescriptionAndRepeatsCount() {
        var key = new FaultKey(uuid(0), new FaultCode.Xid(79));
        counters.fault(new FaultKey(uuid(0), new FaultCode.Xid(31)), second(0).nanos());
        counters.fault(key, second(0.1).nanos());
        counters.fault(key, second(0.2).nanos());

        String page = page(plain(holder("train", GPUS, uuid(0))));

        assertThat(MetricSample.of(page, "DCGM_FI_DEV_XID_ERRORS"))
                .singleElement()
                .satisfies(sample -> {
                    assertThat(sample.value()).isEqualTo(79);
                    assertThat(sample.label("err_code")).isEqualTo("79");
                    assertThat(sample.label("err_msg")).isEqualTo("GPU has fallen off the bus");
                    assertThat(sample.label("pod")).isEqualTo("train");
                });
        assertThat(MetricSample.of(page, "DCGM_EXP_XID_ERRORS_COUNT"))
                .extracting(sample -> sample.label("xid"), MetricSample::value)
                .containsExactly(tuple("31", 1.0), tuple("79", 2.0));
        assertThat(MetricSample.of(page, "DCGM_EXP_XID_ERRORS_TOTAL")).hasSize(2);
    }

    @Test
    void gpuWithoutXidHasCodeZero() {
        assertThat(samples(plain(), "DCGM_FI_DEV_XID_ERRORS"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.label("err_msg")).isEqualTo("No Error"));
    }

    @Test
    void clockEventsAreCountedByReason() {
        var throttled = new GpuSample(
                uuid(0),
                new Known<>(true),
                new Known<>(RecoveryAction.NONE),
                new DeviceSample(
                        new DeviceSample.Utilization(none(), none()),
                        none(),
                        new DeviceSample.Power(none(), none()),
                        none(),
                        new DeviceSample.Clocks(none(), none(), new Known<>(0x4L | 0x40L)),
                        none()),
                GpuMetricReadings.NONE,
                HealthReadings.unavailable("not read"),
                new Reading.Unavailable<>("not read"),
                List.of());
        counters.polled(List.of(throttled), second(0).nanos());
        counters.polled(List.of(throttled), second(0.5).nanos());

        assertThat(samples(plain(), "DCGM_EXP_CLOCK_EVENTS_COUNT"))
                .extracting(sample -> sample.label("clock_event"), MetricSample::value)
                .containsExactly(tuple("power_cap", 2.0), tuple("hw_thermal", 2.0));
    }

    private static <T> Reading<T> none() {
        return new Reading.Unavailable<>("NOT_SUPPORTED");
    }

    @Test
    void staleSamplesHaveNoSeries() {
        String page = DcgmMetricsPage.render(
                plain(), counters.faultCounters(), "n1", second(61).nanos());

        assertThat(MetricSample.of(page, "DCGM_FI_DEV_GPU_TEMP")).isEmpty();
        assertThat(MetricSample.of(page, "DCGM_FI_DEV_XID_ERRORS")).hasSize(1);
    }

    @Test
    void foreignTextIsEscaped() {
        var odd = new Holder("team-a", "a\"b\\c\n", "", "main", GPUS, List.of(uuid(0)));

        assertThat(page(plain(odd))).contains("pod=\"a\\\"b\\\\c\\n\"");
    }
}
