package io.gpufleet.nodedaemon.http;

import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Offers;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.SliceVitals;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class DcgmPageTest {
    private static final String GPUS = "nvidia.com/gpu";

    private final Counters counters = new Counters();

    private static Holder holder(String pod, String resource, String... ids) {
        return new Holder("team-a", pod, "uid-" + pod, "main", resource, List.of(ids));
    }

    private static Vitals vitals(int gpu, Meters meters, List<SliceVitals> slices) {
        return new Vitals(
                uuid(gpu),
                new Known<>(true),
                new Known<>(RecoveryAction.NONE),
                new Known<>(40),
                new Known<>(20),
                new Known<>(30L << 30),
                new Known<>(300_500),
                new Known<>(55),
                new Known<>(1980),
                new Known<>(2619),
                new Known<>(1_000_000L),
                new Known<>(3L),
                new Known<>(0L),
                meters,
                Conditions.unavailable("not read"),
                new Reading.Unavailable<>("not read"),
                slices);
    }

    private static Readout readout(Gpu gpu, Vitals vitals, Holder... holders) {
        var look = new Look.Seen("570.124.06", "12.8", List.of(gpu), List.of());
        return new Readout(
                DeviceBook.remembering(List.of(), second(0)).after(look, second(0)),
                List.of(vitals),
                second(0).nanos(),
                new Holdings(List.of(holders), true),
                List.of(),
                Offers.NONE,
                List.of());
    }

    private static Readout plain(Holder... holders) {
        return readout(Some.gpu(0), vitals(0, Meters.NONE, List.of()), holders);
    }

    private String page(Readout readout) {
        return DcgmPage.of(readout, counters.tally(), "n1", second(1).nanos());
    }

    private List<Sample> samples(Readout readout, String name) {
        return Sample.of(page(readout), name);
    }

    @Test
    void seriesHasTheLabelsThatDashboardsSelectBy() {
        assertThat(samples(plain(holder("train", GPUS, uuid(0))), "DCGM_FI_DEV_GPU_TEMP"))
                .containsExactly(new Sample(
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
    void unitsAreDcgms() {
        String page = page(plain());

        assertThat(Sample.of(page, "DCGM_FI_DEV_POWER_USAGE").getFirst().value())
                .isEqualTo(300.5);
        assertThat(Sample.of(page, "DCGM_FI_DEV_FB_USED").getFirst().value()).isEqualTo(30 << 10);
        assertThat(Sample.of(page, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
                        .getFirst()
                        .value())
                .isEqualTo(1_000_000);
        assertThat(page)
                .contains("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter")
                .contains("# TYPE DCGM_FI_DEV_POWER_USAGE gauge");
    }

    @Test
    void whatCanNotBeReadHasNoSample() {
        assertThat(samples(plain(), "DCGM_FI_PROF_DRAM_ACTIVE")).isEmpty();
    }

    @Test
    void holdersOfASharedGpuEachHaveASeriesAndSumsStayRight() {
        // Given three shares of one GPU, two of them in one pod
        String page =
                page(plain(holder("a", GPUS, uuid(0) + "::0", uuid(0) + "::3"), holder("b", GPUS, uuid(0) + "::1")));

        // Then watts and bytes add up to what the GPU has, and a pod has as much of them as of the shares
        List<Sample> power = Sample.of(page, "DCGM_FI_DEV_POWER_USAGE");
        assertThat(power)
                .extracting(sample -> sample.label("pod") + sample.label("vgpu"))
                .containsExactlyInAnyOrder("a0", "a3", "b1");
        assertThat(power.stream().mapToDouble(Sample::value).sum()).isCloseTo(300.5, within());
        assertThat(power.stream()
                        .filter(sample -> sample.label("pod").equals("a"))
                        .mapToDouble(Sample::value)
                        .sum())
                .isCloseTo(300.5 * 2 / 3, within());

        // And what nobody adds up is the GPU's own for everybody, so that means and thresholds hold
        assertThat(Sample.of(page, "DCGM_FI_DEV_GPU_TEMP"))
                .extracting(Sample::value)
                .containsExactly(55.0, 55.0, 55.0);

        // And what counts stands once, without a pod
        assertThat(Sample.of(page, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"))
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
        Readout readout = plain(holder("a", GPUS, uuid(0) + "::0"));

        assertThat(samples(readout, "DCGM_FI_DEV_POWER_USAGE"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.label("vgpu")).isEqualTo("0"));
        assertThat(samples(readout, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"))
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
                new MigInstance.Attributes((long) slices * 10 << 30, 16, slices, slices, 1, 0, 0, 0, 0),
                List.of(),
                new Reading.Unavailable<>("not read"));
    }

    private static Readout partitioned(Holder... holders) {
        Gpu gpu = Some.gpu(0)
                .partitioned(new Known<>(true), List.of(instance(0, "1g.10gb", 1), instance(1, "3g.40gb", 3)));
        var slices = List.of(
                new SliceVitals("MIG-0", new Meters(Map.of(Meter.MEMORY_USED_BYTES, new Known<>((double) (1L << 30))))),
                new SliceVitals(
                        "MIG-1", new Meters(Map.of(Meter.MEMORY_USED_BYTES, new Known<>((double) (5L << 30))))));
        return readout(gpu, vitals(0, Meters.NONE, slices), holders);
    }

    @Test
    void instancesHaveSeriesOfTheirOwnAndTheBoardIsNotAddedToThem() {
        String page = page(partitioned(holder("a", "nvidia.com/mig-1g.10gb", "MIG-0")));

        assertThat(Sample.of(page, "DCGM_FI_DEV_FB_USED"))
                .extracting(
                        sample -> sample.label("GPU_I_PROFILE"),
                        sample -> sample.label("GPU_I_ID"),
                        sample -> sample.label("pod"),
                        Sample::value)
                .containsExactly(tuple("1g.10gb", "7", "a", 1024.0), tuple("3g.40gb", "8", "", 5120.0));
        assertThat(Sample.of(page, "DCGM_FI_DEV_FB_USED"))
                .allMatch(sample -> sample.label("UUID").equals(uuid(0)));
    }

    @Test
    void powerOfAPartitionedBoardStandsOnceAndItsTemperatureAtEveryInstance() {
        String page = page(partitioned(holder("a", "nvidia.com/mig-1g.10gb", "MIG-0")));

        assertThat(Sample.of(page, "DCGM_FI_DEV_POWER_USAGE"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.labels()).doesNotContainKeys("GPU_I_ID", "pod"));
        assertThat(Sample.of(page, "DCGM_FI_DEV_GPU_TEMP"))
                .extracting(sample -> sample.label("GPU_I_ID") + sample.label("pod"))
                .containsExactly("7a", "8");
    }

    @Test
    void lastXidIsShownWithItsMeaningAndEveryRepeatCounts() {
        var key = new FaultKey(uuid(0), new FaultCode.Xid(79));
        counters.fault(new FaultKey(uuid(0), new FaultCode.Xid(31)), second(0).nanos());
        counters.fault(key, second(0.1).nanos());
        counters.fault(key, second(0.2).nanos());

        String page = page(plain(holder("train", GPUS, uuid(0))));

        assertThat(Sample.of(page, "DCGM_FI_DEV_XID_ERRORS")).singleElement().satisfies(sample -> {
            assertThat(sample.value()).isEqualTo(79);
            assertThat(sample.label("err_code")).isEqualTo("79");
            assertThat(sample.label("err_msg")).isEqualTo("GPU has fallen off the bus");
            assertThat(sample.label("pod")).isEqualTo("train");
        });
        assertThat(Sample.of(page, "DCGM_EXP_XID_ERRORS_COUNT"))
                .extracting(sample -> sample.label("xid"), Sample::value)
                .containsExactly(tuple("31", 1.0), tuple("79", 2.0));
        assertThat(Sample.of(page, "DCGM_EXP_XID_ERRORS_TOTAL")).hasSize(2);
    }

    @Test
    void gpuWithoutAnyXidShowsNone() {
        assertThat(samples(plain(), "DCGM_FI_DEV_XID_ERRORS"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.label("err_msg")).isEqualTo("No Error"));
    }

    @Test
    void clockEventsAreCountedByReason() {
        var throttled = new Vitals(
                uuid(0),
                new Known<>(true),
                new Known<>(RecoveryAction.NONE),
                none(),
                none(),
                none(),
                none(),
                none(),
                none(),
                none(),
                none(),
                none(),
                new Known<>(0x4L | 0x40L),
                Meters.NONE,
                Conditions.unavailable("not read"),
                new Reading.Unavailable<>("not read"),
                List.of());
        counters.polled(List.of(throttled), second(0).nanos());
        counters.polled(List.of(throttled), second(0.5).nanos());

        assertThat(samples(plain(), "DCGM_EXP_CLOCK_EVENTS_COUNT"))
                .extracting(sample -> sample.label("clock_event"), Sample::value)
                .containsExactly(tuple("power_cap", 2.0), tuple("hw_thermal", 2.0));
    }

    private static <T> Reading<T> none() {
        return new Reading.Unavailable<>("NOT_SUPPORTED");
    }

    @Test
    void oldValuesAreNotShownAsIfTheyWereNew() {
        String page = DcgmPage.of(plain(), counters.tally(), "n1", second(61).nanos());

        assertThat(Sample.of(page, "DCGM_FI_DEV_GPU_TEMP")).isEmpty();
        assertThat(Sample.of(page, "DCGM_FI_DEV_XID_ERRORS")).hasSize(1);
    }

    @Test
    void whatAForeignHandWroteIsEscaped() {
        var odd = new Holder("team-a", "a\"b\\c\n", "", "main", GPUS, List.of(uuid(0)));

        assertThat(page(plain(odd))).contains("pod=\"a\\\"b\\\\c\\n\"");
    }
}
