package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.gpu;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Known issues of NVIDIA's device plugin, case by case; the README lists the others. */
class KnownPluginIssuesTest {
    private static final Duration LONG_UP = Duration.ofDays(1);
    private static final DeviceScan NOTHING = new DeviceScan.ScanFailed(
            DeviceScan.DriverProblem.LIBRARY_ABSENT, "no libnvidia-ml.so.1 below the driver root");

    private static DeviceScan eightGpusWithTheFourthLost() {
        var gpus =
                IntStream.range(0, 8).filter(i -> i != 3).mapToObj(i -> gpu(i)).toList();
        return new DeviceScan.ScanSucceeded(
                "570.124.06", "12.8", gpus, List.of(new DeviceScan.LostGpu(3, gpu(3).pciBusId(), "GPU_IS_LOST")));
    }

    @Test
    void faultSurvivesAReloadOfTheSettingsAndARestartOfTheDaemon() {
        var node = new TestNode(scanOf(2)).xid(0, 79);

        node.overrideXids(new XidOverrides(false, false, Set.of(31), Set.of()));
        assertThat(node.healthy()).containsExactly(uuid(1));
        node.restarts("boot-1", scanOf(2)).polls(GpuSampleBuilder.healthyGpu(0).withoutRecoveryAction());
        assertThat(node.healthy()).containsExactly(uuid(1));

        // When the node reboots
        node.restarts("boot-2", scanOf(2));
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void resolutionSurvivesARestart() {
        var node = new TestNode(scanOf(2)).xid(0, 79).causeResolved(0, 79);

        node.restarts("boot-1", scanOf(2));

        assertThat(node.healthy()).containsExactly(uuid(1));
        assertThat(node.advance(TestNode.DWELL.toSeconds()).healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void oneGpuLostAtTheStartLeavesTheOtherSevenServed() {
        assertThat(new TestNode(eightGpusWithTheFourthLost()).healthy()).hasSize(7);
    }

    @Test
    void gpuThatWasLostBeforeTheStartIsStillListedUnderItsId() {
        var node = new TestNode(scanOf(8));

        node.restarts("boot-1", eightGpusWithTheFourthLost());

        assertThat(node.listed()).hasSize(8);
        assertThat(node.healthy()).hasSize(7).doesNotContain(uuid(3));
    }

    @Test
    void gpuThatIsLostWithoutAnEventIsWithdrawnByThePoll() {
        var node = new TestNode(scanOf(2)).polls(GpuSampleBuilder.healthyGpu(0), GpuSampleBuilder.healthyGpu(1));

        node.advance(10).polls(GpuSampleBuilder.healthyGpu(0).unresponsive(), GpuSampleBuilder.healthyGpu(1));

        assertThat(node.healthy()).containsExactly(uuid(1));
        assertThat(node.open()).containsExactly(new FaultCode.WithoutCode(FaultKind.GPU_LOST));
    }

    @Test
    void gpuWhoseMemoryQueryAloneFailsIsNeverOffered() {
        var whole = gpu(0);
        var failed = whole.withLateReadings(
                whole.topology().links(), whole.topology().fabricClique(), new Reading.Unavailable<>("UNKNOWN"));

        var node = new TestNode(new DeviceScan.ScanSucceeded("570.124.06", "12.8", List.of(failed, gpu(1)), List.of()));

        assertThat(node.healthy()).containsExactly(uuid(1));
        assertThat(node.everHealthy()).doesNotContain(uuid(0));
    }

    @Test
    void addedGpuIsOfferedAndRemovedOneLeavesInTwoSteps() {
        var node = new TestNode(scanOf(1));
        assertThat(node.scans(scanOf(2)).healthy()).containsExactly(uuid(0), uuid(1));

        node.advance(30).scans(scanOf(1));
        assertThat(node.healthy()).containsExactly(uuid(0));
        assertThat(node.listed()).containsExactly(uuid(0), uuid(1));

        assertThat(node.advance(60).listed()).containsExactly(uuid(0));
    }

    private static DeviceScan oneOfTwo(String... onTheBus) {
        return new DeviceScan.ScanSucceeded(
                "570.124.06",
                "12.8",
                List.of(gpu(0)),
                List.of(new DeviceScan.LostGpu(1, gpu(1).pciBusId(), "GPU_IS_LOST")),
                new Reading.Known<>(List.of(onTheBus)));
    }

    @Test
    void faultOfALostGpuIsClearedWhenTheGpuIsRemoved() {
        var node = new TestNode(scanOf(2)).xid(1, 79).scans(oneOfTwo("0000:00:00.0", "0001:00:00.0"));
        node.advance(100_000).scans(oneOfTwo("0000:00:00.0", "0001:00:00.0"));
        assertThat(node.open()).hasSize(2).contains(new FaultCode.WithoutCode(FaultKind.GPU_LOST));

        // When the kernel no longer lists it
        node.scans(oneOfTwo("0000:00:00.0"));

        // Then it leaves the list, since it was Unhealthy for long enough, and its faults are cleared
        assertThat(node.listed()).containsExactly(uuid(0));
        FaultCode missing = new FaultCode.WithoutCode(FaultKind.GPU_MISSING);
        assertThat(node.advance(TestNode.DWELL.toSeconds()).open()).containsExactly(missing);
        assertThat(node.published(NodeFact.FaultCleared.class)).hasSize(2);
        node.restarts("boot-1", oneOfTwo("0000:00:00.0"));
        assertThat(node.open()).containsExactly(missing);
        assertThat(node.listed()).containsExactly(uuid(0));
    }

    @Test
    void removedAndReturnedGpuDoesNotShortenItsDwell() {
        var node = new TestNode(scanOf(2)).xid(1, 79).scans(oneOfTwo("0000:00:00.0"));

        node.advance(30).scans(scanOf(2));

        assertThat(node.healthy()).containsExactly(uuid(0));
        node.advance(TestNode.DWELL.toSeconds() - 31);
        assertThat(node.healthy()).containsExactly(uuid(0));
        assertThat(node.advance(1).healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void faultOfAReplacedGpuIsCleared() {
        var node = new TestNode(scanOf(2)).xid(1, 79);
        var other = new Gpu(
                new Gpu.Identifiers(
                        uuid(5),
                        gpu(5).identifiers().serial(),
                        1,
                        1,
                        gpu(1).pciBusId(),
                        gpu(1).identifiers().vbiosVersion()),
                new Gpu.Product(
                        gpu(1).model(),
                        gpu(1).product().shortModel(),
                        gpu(1).product().family(),
                        gpu(1).product().computeCapability(),
                        gpu(1).product().mode()),
                gpu(1).memoryBytes(),
                new Gpu.Topology(
                        gpu(1).topology().numaNode(),
                        gpu(1).topology().links(),
                        gpu(1).topology().fabricClique(),
                        gpu(1).topology().pciRoute()),
                new Gpu.Mig(gpu(1).mig().enabled(), gpu(1).instances()),
                gpu(1).vgpuHost());

        node.scans(new DeviceScan.ScanSucceeded("570.124.06", "12.8", List.of(gpu(0), other), List.of()));

        assertThat(node.healthy()).containsExactly(uuid(0), uuid(5));
        assertThat(node.advance(TestNode.DWELL.toSeconds()).open()).isEmpty();
    }

    @Test
    void nodeWithoutNvmlAtTheStartIsServedOnceThereIsOne() {
        var node = new TestNode(NOTHING);
        assertThat(node.listed()).isEmpty();
        assertThat(node.open()).isEmpty();

        assertThat(node.advance(2).scans(scanOf(2)).healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void waitThatFailsTwentyThousandTimesChangesNoListAndPublishesOpenFaultsOnce() {
        var node = new TestNode(scanOf(2));
        int lists = node.shownLists();
        int open = node.published(NodeFact.FaultsOpen.class).size();

        for (int i = 0; i < 20_000; i++) {
            node.handle(new NodeLoopInput.DeviceEventReceived(new DeviceEvent.FaultDetected(
                    "", "", new FaultCode.WithoutCode(FaultKind.EVENT_WAIT), FaultOrigin.POLL, "UNKNOWN")));
        }

        assertThat(node.shownLists()).isEqualTo(lists);
        assertThat(node.published(NodeFact.FaultsOpen.class)).hasSize(open + 1);
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void everyReplicaOfAFailedGpuFollowsIt() {
        var shared = new SharingSettings(
                SharingSettings.SharingMode.TIME_SLICING,
                false,
                false,
                List.of(new SharingSettings.SharedResource(
                        "nvidia.com/gpu", "", new SharingSettings.DeviceSelector.All(), 4)));
        var node = new TestNode(scanOf(2), settings(MigStrategy.NONE, shared), LONG_UP);
        assertThat(node.healthy()).hasSize(8);

        node.xid(0, 79);

        assertThat(node.healthy()).hasSize(4).allMatch(id -> id.startsWith(uuid(1) + "::"));
    }

    @Test
    void everyMigInstanceOfAFailedGpuFollowsIt() {
        var instances = new ArrayList<MigInstance>();
        for (int i = 0; i < 3; i++) {
            instances.add(new MigInstance(
                    "MIG-" + i,
                    "1g.10gb",
                    i,
                    i,
                    0,
                    new MigInstance.Attributes(
                            10L << 30, 14, new MigInstance.Slices(1, 1), new MigInstance.Engines(1, 0, 0, 0, 0)),
                    List.of(),
                    new Reading.Unavailable<>("not read")));
        }
        Gpu split = gpu(0).withMig(new Reading.Known<>(true), instances);
        var node = new TestNode(
                new DeviceScan.ScanSucceeded("570.124.06", "12.8", List.of(split, gpu(1)), List.of()),
                settings(MigStrategy.MIXED, SharingSettings.NONE),
                LONG_UP);
        assertThat(node.healthy()).containsExactly(uuid(1), "MIG-0", "MIG-1", "MIG-2");

        node.xid(0, 79);

        assertThat(node.healthy()).containsExactly(uuid(1));
    }

    @Test
    void nvlinkTrainingAfterBootAndShortPowerBrakeAreNoFault() {
        var node = new TestNode(scanOf(1), PluginSettings.DEFAULT, Duration.ofSeconds(40));

        node.polls(GpuSampleBuilder.healthyGpu(0).linksDown(18).clockReasons(new Reading.Known<>(0x88L)))
                .advance(10)
                .polls(GpuSampleBuilder.healthyGpu(0));

        assertThat(node.published(NodeFact.FaultObserved.class)).isEmpty();
        assertThat(node.healthy()).containsExactly(uuid(0));
    }

    private static PluginSettings settings(MigStrategy mig, SharingSettings sharing) {
        var standard = PluginSettings.DEFAULT;
        return new PluginSettings(
                mig, sharing, ReplicaAllocationPolicy.DISTRIBUTED, standard.allocate(), standard.xids());
    }
}
