package io.gpufleet.nodedaemon.http;

import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Offers;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.UnheldUse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProcessPageTest {
    private static final String MEMORY = "gpufleet_gpu_pod_memory_used_bytes";
    private static final String UNHELD = "gpufleet_gpu_unheld_processes";

    private final List<Holder> holders = List.of(
            new Holder("team-a", "train", "a", "main", "nvidia.com/gpu.shared", List.of(uuid(0) + "::0")),
            new Holder("team-b", "infer", "b", "main", "nvidia.com/gpu.shared", List.of(uuid(0) + "::1")));

    private static ComputeProcess process(int pid, String device, long bytes, ProcessOwner owner) {
        return new ComputeProcess(pid, device, new Known<>(bytes), owner);
    }

    private static ProcessOwner pod(String uid) {
        return new ProcessOwner.Pod(uid);
    }

    private Readout readout(Gpu gpu, Reading<List<ComputeProcess>> processes, UnheldUse... unheld) {
        var look = new Look.Seen("570.124.06", "12.8", List.of(gpu), List.of());
        return new Readout(
                DeviceBook.remembering(List.of(), second(0)).after(look, second(0)),
                List.of(SomeVitals.well(0).processes(processes).now()),
                second(0).nanos(),
                new Holdings(holders, true),
                List.of(unheld),
                Offers.NONE,
                List.of());
    }

    private static List<Sample> samples(Readout readout, String name) {
        return Sample.of(ProcessPage.of(readout, second(1).nanos()), name);
    }

    @Test
    void memoryOfASharedGpuIsSplitByPod() {
        Readout readout = readout(
                Some.gpu(0),
                new Known<>(List.of(
                        process(1, uuid(0), 10, pod("a")),
                        process(2, uuid(0), 20, pod("a")),
                        process(3, uuid(0), 5, pod("b")),
                        process(4, uuid(0), 7, new ProcessOwner.Host()))));

        assertThat(samples(readout, MEMORY))
                .containsExactlyInAnyOrder(
                        new Sample(
                                MEMORY,
                                Map.of(
                                        "gpu",
                                        "0",
                                        "UUID",
                                        uuid(0),
                                        "namespace",
                                        "team-a",
                                        "pod",
                                        "train",
                                        "pod_uid",
                                        "a"),
                                30),
                        new Sample(
                                MEMORY,
                                Map.of(
                                        "gpu",
                                        "0",
                                        "UUID",
                                        uuid(0),
                                        "namespace",
                                        "team-b",
                                        "pod",
                                        "infer",
                                        "pod_uid",
                                        "b"),
                                5));
    }

    @Test
    void podThatHoldsNothingIsKnownByItsUidOnly() {
        Readout readout = readout(Some.gpu(0), new Known<>(List.of(process(1, uuid(0), 10, pod("x")))));

        assertThat(samples(readout, MEMORY))
                .containsExactly(new Sample(MEMORY, Map.of("gpu", "0", "UUID", uuid(0), "pod_uid", "x"), 10));
    }

    @Test
    void partOfASumIsNotShown() {
        var mute = new ComputeProcess(2, uuid(0), new Unavailable<>("NOT_AVAILABLE"), pod("a"));

        assertThat(samples(readout(Some.gpu(0), new Known<>(List.of(process(1, uuid(0), 10, pod("a")), mute))), MEMORY))
                .isEmpty();
    }

    @Test
    void instanceIsNamedAsEverywhere() {
        var share = new MigInstance.Attributes(10L << 30, 16, 1, 1, 1, 1, 0, 1, 0);
        Gpu split = Some.gpu(0)
                .partitioned(
                        new Known<>(true),
                        List.of(new MigInstance(
                                "MIG-7", "1g.10gb", 0, 7, 0, share, List.of(), new Reading.Unavailable<>("not read"))));
        Readout readout = readout(
                split,
                new Known<>(List.of(process(1, "MIG-7", 10, pod("a")))),
                new UnheldUse("MIG-7", "a", 1, new Known<>(10L)));

        assertThat(samples(readout, MEMORY))
                .singleElement()
                .satisfies(sample -> assertThat(sample.labels())
                        .containsEntry("GPU_I_ID", "7")
                        .containsEntry("GPU_I_PROFILE", "1g.10gb")
                        .containsEntry("UUID", uuid(0)));
        assertThat(samples(readout, UNHELD))
                .containsExactly(new Sample(UNHELD, Map.of("gpu", "0", "UUID", uuid(0)), 1));
    }

    @Test
    void gpuWithoutStrangersShowsNoneAndOneThatCanNotBeLookedAtShowsNothing() {
        assertThat(samples(readout(Some.gpu(0), new Known<>(List.of())), UNHELD))
                .containsExactly(new Sample(UNHELD, Map.of("gpu", "0", "UUID", uuid(0)), 0));
        assertThat(samples(readout(Some.gpu(0), new Unavailable<>("NO_PERMISSION")), UNHELD))
                .isEmpty();
        Readout old = readout(Some.gpu(0), new Known<>(List.of()));
        assertThat(Sample.of(ProcessPage.of(old, second(61).nanos()), UNHELD)).isEmpty();
    }
}
