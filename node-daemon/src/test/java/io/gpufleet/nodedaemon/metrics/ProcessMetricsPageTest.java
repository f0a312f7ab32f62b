package io.gpufleet.nodedaemon.metrics;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevices;
import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.holders.UnallocatedUse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProcessMetricsPageTest {
    private static final String MEMORY = "gpufleet_gpu_pod_memory_used_bytes";
    private static final String UNALLOCATED = "gpufleet_gpu_unallocated_processes";

    private final List<Holder> holders = List.of(
            new Holder("team-a", "train", "a", "main", "nvidia.com/gpu.shared", List.of(uuid(0) + "::0")),
            new Holder("team-b", "infer", "b", "main", "nvidia.com/gpu.shared", List.of(uuid(0) + "::1")));

    private static ComputeProcess process(int pid, String device, long bytes, ProcessOwner owner) {
        return new ComputeProcess(pid, device, new Known<>(bytes), owner);
    }

    private static ProcessOwner pod(String uid) {
        return new ProcessOwner.Pod(uid);
    }

    private NodeSnapshot snapshot(Gpu gpu, Reading<List<ComputeProcess>> processes, UnallocatedUse... unallocated) {
        var scan = new DeviceScan.ScanSucceeded("570.124.06", "12.8", List.of(gpu), List.of());
        return new NodeSnapshot(
                DeviceInventory.restored(List.of(), second(0)).after(scan, second(0)),
                List.of(GpuSampleBuilder.healthyGpu(0).processes(processes).build()),
                second(0).nanos(),
                new Holdings(holders, true),
                List.of(unallocated),
                OfferedDevices.NONE,
                List.of());
    }

    private static List<MetricSample> samples(NodeSnapshot snapshot, String name) {
        return MetricSample.of(ProcessMetricsPage.render(snapshot, second(1).nanos()), name);
    }

    @Test
    void memoryOfASharedGpuIsSplitByPod() {
        NodeSnapshot snapshot = snapshot(
                TestGpus.gpu(0),
                new Known<>(List.of(
                        process(1, uuid(0), 10, pod("a")),
                        process(2, uuid(0), 20, pod("a")),
                        process(3, uuid(0), 5, pod("b")),
                        process(4, uuid(0), 7, new ProcessOwner.Host()))));

        assertThat(samples(snapshot, MEMORY))
                .containsExactlyInAnyOrder(
                        new MetricSample(
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
                        new MetricSample(
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
    void podWithoutAllocationIsLabelledByItsUidOnly() {
        NodeSnapshot snapshot = snapshot(TestGpus.gpu(0), new Known<>(List.of(process(1, uuid(0), 10, pod("x")))));

        assertThat(samples(snapshot, MEMORY))
                .containsExactly(new MetricSample(MEMORY, Map.of("gpu", "0", "UUID", uuid(0), "pod_uid", "x"), 10));
    }

    @Test
    void incompleteSumHasNoSample() {
        var mute = new ComputeProcess(2, uuid(0), new Unavailable<>("NOT_AVAILABLE"), pod("a"));

        assertThat(samples(
                        snapshot(TestGpus.gpu(0), new Known<>(List.of(process(1, uuid(0), 10, pod("a")), mute))),
                        MEMORY))
                .isEmpty();
    }

    @Test
    void instanceHasTheLabelsOfOtherMetrics() {
        var share = new MigInstance.Attributes(
                10L << 30, 16, new MigInstance.Slices(1, 1), new MigInstance.Engines(1, 1, 0, 1, 0));
        Gpu split = TestGpus.gpu(0)
                .withMig(
                        new Known<>(true),
                        List.of(new MigInstance(
                                "MIG-7", "1g.10gb", 0, 7, 0, share, List.of(), new Reading.Unavailable<>("not read"))));
        NodeSnapshot snapshot = snapshot(
                split,
                new Known<>(List.of(process(1, "MIG-7", 10, pod("a")))),
                new UnallocatedUse("MIG-7", "a", 1, new Known<>(10L)));

        assertThat(samples(snapshot, MEMORY))
                .singleElement()
                .satisfies(sample -> assertThat(sample.labels())
                        .containsEntry("GPU_I_ID", "7")
                        .containsEntry("GPU_I_PROFILE", "1g.10gb")
                        .containsEntry("UUID", uuid(0)));
        assertThat(samples(snapshot, UNALLOCATED))
                .containsExactly(new MetricSample(UNALLOCATED, Map.of("gpu", "0", "UUID", uuid(0)), 1));
    }

    @Test
    void gpuWithoutUnallocatedProcessesHasZeroAndUnreadableOneHasNoSample() {
        assertThat(samples(snapshot(TestGpus.gpu(0), new Known<>(List.of())), UNALLOCATED))
                .containsExactly(new MetricSample(UNALLOCATED, Map.of("gpu", "0", "UUID", uuid(0)), 0));
        assertThat(samples(snapshot(TestGpus.gpu(0), new Unavailable<>("NO_PERMISSION")), UNALLOCATED))
                .isEmpty();
        NodeSnapshot old = snapshot(TestGpus.gpu(0), new Known<>(List.of()));
        assertThat(MetricSample.of(ProcessMetricsPage.render(old, second(61).nanos()), UNALLOCATED))
                .isEmpty();
    }
}
