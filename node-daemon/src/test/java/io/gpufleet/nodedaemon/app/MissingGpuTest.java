package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.gpu;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** GPUs that a node had and has no more. */
class MissingGpuTest {
    private static final FaultCode MISSING = new FaultCode.WithoutCode(FaultKind.GPU_MISSING);

    /** A scan that finds these GPUs, and a kernel that lists the devices of the same and of these addresses. */
    private static DeviceScan scanOfGpus(int... indexes) {
        List<Gpu> found = IntStream.of(indexes).mapToObj(index -> gpu(index)).toList();
        return new DeviceScan.ScanSucceeded(
                "570.124.06",
                "12.8",
                found,
                List.of(),
                new Reading.Known<>(found.stream().map(Gpu::pciBusId).toList()));
    }

    @Test
    void gpuThatIsGoneAfterABootIsAFaultOfTheNodeAndItsNeighboursAreOffered() {
        // Given
        var node = new TestNode(scanOfGpus(0, 1, 2));

        // When
        node.restarts("boot-2", scanOfGpus(0, 2));

        // Then
        assertThat(node.open()).containsExactly(MISSING);
        assertThat(node.faults().getFirst().key().gpuUuid()).isEmpty();
        assertThat(node.faults().getFirst().message())
                .startsWith("gone from the PCI bus: " + uuid(1) + " (")
                .contains("slot " + gpu(1).pciBusId());
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(2));
    }

    @Test
    void gpuStaysMissingOverMoreBootsUntilItIsBack() {
        // Given
        var node = new TestNode(scanOfGpus(0, 1));
        node.restarts("boot-2", scanOfGpus(0));
        node.restarts("boot-3", scanOfGpus(0));
        assertThat(node.open()).containsExactly(MISSING);

        // When
        node.scans(scanOfGpus(0, 1));

        // Then
        assertThat(node.advance(1).open()).isEmpty();
        assertThat(node.healthy()).contains(uuid(1));
    }

    @Test
    void oneMoreMissingGpuIsAnotherObservationOfTheSameFault() {
        var node = new TestNode(scanOfGpus(0, 1, 2));
        node.scans(scanOfGpus(0, 1)).scans(scanOfGpus(0, 1)).scans(scanOfGpus(0));

        assertThat(node.open()).containsExactly(MISSING);
        assertThat(node.faults().getFirst().observationCount()).isEqualTo(2);
        assertThat(node.faults().getFirst().message()).contains(uuid(1), uuid(2));
    }

    @Test
    void operatorRemovesAMissingGpuFromTheLearnedOnes() {
        // Given
        var node = new TestNode(scanOfGpus(0, 1));
        node.restarts("boot-2", scanOfGpus(0));

        // When
        node.handle(new NodeLoopInput.GpusForgotten(Set.of(uuid(1))));

        // Then
        assertThat(node.advance(1).open()).isEmpty();
        assertThat(node.restarts("boot-3", scanOfGpus(0)).open()).isEmpty();
    }

    @Test
    void forgettingAGpuThatIsThereChangesNothing() {
        var node = new TestNode(scanOfGpus(0, 1));
        node.handle(new NodeLoopInput.GpusForgotten(Set.of(uuid(1))));

        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
        node.scans(scanOfGpus(0));
        assertThat(node.open()).contains(MISSING);
    }

    @Test
    void daemonWithoutSavedStateSaysSinceWhenItKnowsTheGpusAndProvesNothingGone() {
        // Given a daemon whose state directory was lost, after a GPU went
        var before = new TestNode(scanOfGpus(0, 1));
        var node = new TestNode(scanOfGpus(0));

        // Then
        assertThat(node.open()).isEmpty();
        NodeFact.Announced announced = node.published(NodeFact.Announced.class).getFirst();
        assertThat(announced.gpusKnownSince()).isEqualTo(second(0).wall());
        NodeFact.Announced later = before.restarts("boot-2", scanOfGpus(0, 1))
                .published(NodeFact.Announced.class)
                .getLast();
        assertThat(later.gpusKnownSince()).isEqualTo(second(0).wall());
    }

    @Test
    void listOfOpenFaultsSaysSinceWhichDaemonFaultsAreKnownOverRestartsAndBoots() {
        var node = new TestNode(scanOfGpus(0, 1));

        node.restarts("boot-1", scanOfGpus(0, 1)).restarts("boot-2", scanOfGpus(0, 1));

        assertThat(node.published(NodeFact.FaultsOpen.class))
                .hasSizeGreaterThanOrEqualTo(3)
                .allMatch(list -> list.knownSinceEpoch() == TestNode.FIRST_EPOCH);
    }

    @Test
    void gpuIsNotMissingWhereTheKernelTellsNothing() {
        var node = new TestNode(scanOf(2));

        node.restarts("boot-2", scanOf(1));

        assertThat(node.open()).doesNotContain(MISSING);
    }

    @Test
    void driverThatDoesNotRespondMakesNoGpuMissing() {
        var node = new TestNode(scanOfGpus(0, 1));

        node.restarts("boot-2", new DeviceScan.ScanFailed(DeviceScan.DriverProblem.NOT_LOADED, "not loaded"));

        assertThat(node.open()).doesNotContain(MISSING);
    }
}
