package io.gpufleet.nodedaemon.model.holders;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnallocatedProcessesTest {
    private static final String MIG = "MIG-0";
    private static final ProcessOwner HOST = new ProcessOwner.Host();
    private static final Holdings NO_HOLDERS = new Holdings(List.of(), true);

    private UnallocatedProcesses unallocated = UnallocatedProcesses.NONE;

    private static ProcessOwner pod(String uid) {
        return new ProcessOwner.Pod(uid);
    }

    private static ComputeProcess process(int pid, String device, ProcessOwner owner) {
        return new ComputeProcess(pid, device, new Known<>(100L), owner);
    }

    private static Holdings held(String uid, String resource, String... ids) {
        return new Holdings(List.of(new Holder("ns", "pod", uid, "main", resource, List.of(ids))), true);
    }

    private List<UnallocatedUse> poll(double at, Holdings holdings, ComputeProcess... processes) {
        GpuSample sample = GpuSampleBuilder.healthyGpu(0)
                .processes(new Known<>(Arrays.asList(processes)))
                .build();
        unallocated = unallocated.polled(List.of(sample), holdings, Set.of(uuid(0)), second(at));
        return unallocated.unallocated();
    }

    private List<UnallocatedUse> twice(Holdings holdings, ComputeProcess... processes) {
        poll(0, holdings, processes);
        return poll(10, holdings, processes);
    }

    private static List<UnallocatedUse> use(String device, String podUid, int processes) {
        return List.of(new UnallocatedUse(device, podUid, processes, new Known<>(100L * processes)));
    }

    @Test
    void podThatHoldsTheGpuOrAReplicaIsNotReported() {
        assertThat(twice(held("a", "nvidia.com/gpu", uuid(0)), process(1, uuid(0), pod("a"))))
                .isEmpty();
        assertThat(twice(held("a", "nvidia.com/gpu.shared", uuid(0) + "::3"), process(1, uuid(0), pod("a"))))
                .isEmpty();
    }

    @Test
    void podOnAGpuThatItDoesNotHoldIsReported() {
        assertThat(twice(
                        held("a", "nvidia.com/gpu", uuid(0)),
                        process(1, uuid(0), pod("a")),
                        process(2, uuid(0), pod("b")),
                        process(3, uuid(0), pod("b"))))
                .isEqualTo(use(uuid(0), "b", 2));
    }

    @Test
    void hostProcessIsReportedWithoutPod() {
        assertThat(twice(NO_HOLDERS, process(1, uuid(0), HOST))).isEqualTo(use(uuid(0), "", 1));
    }

    @Test
    void singleOrRapidObservationsAreNotReported() {
        assertThat(poll(0, NO_HOLDERS, process(1, uuid(0), HOST))).isEmpty();
        assertThat(poll(0.1, NO_HOLDERS, process(1, uuid(0), HOST))).isEmpty();
        assertThat(poll(10, NO_HOLDERS, process(1, uuid(0), HOST))).hasSize(1);
    }

    @Test
    void newProcessStartsOverAndEndedProcessIsForgotten() {
        poll(0, NO_HOLDERS, process(1, uuid(0), HOST));

        assertThat(poll(10, NO_HOLDERS, process(2, uuid(0), HOST))).isEmpty();
        assertThat(poll(20, NO_HOLDERS, process(2, uuid(0), HOST))).hasSize(1);
        assertThat(poll(20.1, NO_HOLDERS)).isEmpty();
    }

    @Test
    void unreadableProcessesKeepTheEarlierResult() {
        twice(NO_HOLDERS, process(1, uuid(0), HOST));

        GpuSample unreadable = GpuSampleBuilder.healthyGpu(0)
                .processes(new Unavailable<>("NO_PERMISSION"))
                .build();
        assertThat(unallocated
                        .polled(List.of(unreadable), NO_HOLDERS, Set.of(uuid(0)), second(20))
                        .unallocated())
                .hasSize(1);
        assertThat(unallocated
                        .polled(List.of(), NO_HOLDERS, Set.of(uuid(0)), second(20))
                        .unallocated())
                .hasSize(1);
        assertThat(unallocated
                        .polled(List.of(), NO_HOLDERS, Set.of(uuid(1)), second(20))
                        .unallocated())
                .isEmpty();
    }

    @Test
    void incompleteHoldersDeferPodsButNotHostProcesses() {
        var incomplete = new Holdings(List.of(), false);

        assertThat(twice(incomplete, process(1, uuid(0), pod("a")))).isEmpty();
        assertThat(twice(incomplete, process(1, uuid(0), HOST))).hasSize(1);
    }

    @Test
    void unknownPodUidOfAHolderDefersPods() {
        assertThat(twice(held("", "nvidia.com/gpu", uuid(0)), process(1, uuid(0), pod("a"))))
                .isEmpty();
        assertThat(twice(held("", "nvidia.com/gpu", uuid(1)), process(1, uuid(0), pod("a"))))
                .hasSize(1);
    }

    @Test
    void reportedUseStaysWhileUndecided() {
        twice(NO_HOLDERS, process(1, uuid(0), pod("a")));

        assertThat(poll(20, new Holdings(List.of(), false), process(1, uuid(0), pod("a"))))
                .hasSize(1);
        assertThat(poll(30, held("a", "nvidia.com/gpu", uuid(0)), process(1, uuid(0), pod("a"))))
                .isEmpty();
    }

    @Test
    void migInstancesAreClassifiedSeparately() {
        Holdings holdings = held("a", "nvidia.com/mig-1g.10gb", MIG);

        assertThat(twice(holdings, process(1, MIG, pod("a")), process(2, "MIG-1", pod("a"))))
                .isEqualTo(use("MIG-1", "a", 1));
    }

    @Test
    void holderOfAPartitionedGpuHoldsItsInstances() {
        assertThat(twice(held("a", "nvidia.com/gpu", uuid(0)), process(1, MIG, pod("a"))))
                .isEmpty();
    }

    @Test
    void processOnUnknownMigInstanceIsUndecided() {
        assertThat(twice(NO_HOLDERS, process(1, "", HOST), process(2, "", pod("a"))))
                .isEmpty();
    }

    @Test
    void podWithUnresolvedClaimIsUndecided() {
        Holdings claim = held("a", Holder.DRA_DRIVER, "gpu-0-mig-19-4-1");

        assertThat(twice(claim, process(1, uuid(0), pod("a")), process(2, uuid(0), pod("b"))))
                .isEqualTo(use(uuid(0), "b", 1));
    }

    @Test
    void mpsAndUnknownOwnersAreNotReported() {
        assertThat(twice(
                        NO_HOLDERS,
                        process(1, uuid(0), new ProcessOwner.Mps()),
                        process(2, uuid(0), new ProcessOwner.Unknown("unreadable"))))
                .isEmpty();
    }

    @Test
    void sumWithUnreadablePartIsUnavailable() {
        var unreadable = new ComputeProcess(2, uuid(0), new Unavailable<>("NOT_AVAILABLE"), HOST);

        assertThat(twice(NO_HOLDERS, process(1, uuid(0), HOST), unreadable))
                .containsExactly(new UnallocatedUse(uuid(0), "", 2, new Unavailable<>("NOT_AVAILABLE")));
    }

    @Test
    void memoryChangeIsNotAnotherUse() {
        twice(NO_HOLDERS, process(1, uuid(0), HOST));
        UnallocatedProcesses before = unallocated;

        poll(20, NO_HOLDERS, new ComputeProcess(1, uuid(0), new Known<>(900L), HOST));

        assertThat(unallocated.unallocated().getFirst().usedBytes()).isEqualTo(new Known<>(900L));
        assertThat(unallocated.differsFrom(before)).isFalse();
        poll(21, NO_HOLDERS);
        assertThat(unallocated.differsFrom(before)).isTrue();
    }
}
