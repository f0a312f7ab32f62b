package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.gpu;
import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What users complain about in the plugin that this daemon replaces, case by case; the README lists the rest. */
class BetterThanThePeerTest {
    private static final Duration LONG_UP = Duration.ofDays(1);
    private static final Look NOTHING =
            new Look.Blind(Look.DriverTrouble.LIBRARY_ABSENT, "no libnvidia-ml.so.1 below the driver root");

    private static Look eightButTheFourth() {
        var gpus =
                IntStream.range(0, 8).filter(i -> i != 3).mapToObj(i -> gpu(i)).toList();
        return new Look.Seen(
                "570.124.06", "12.8", gpus, List.of(new Look.LostGpu(3, gpu(3).pciBusId(), "GPU_IS_LOST")));
    }

    @Test
    void faultSurvivesAReloadOfTheSettingsAndARestartOfTheDaemon() {
        var node = new NodeInHand(seen(2)).xid(0, 79);

        node.chooses(new XidOverrides(false, false, Set.of(31), Set.of()));
        assertThat(node.healthy()).containsExactly(uuid(1));
        node.restarts("boot-1", seen(2)).polls(SomeVitals.well(0).withoutRecoveryAction());
        assertThat(node.healthy()).containsExactly(uuid(1));

        // When the machine itself starts anew
        node.restarts("boot-2", seen(2));
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void provenEndSurvivesARestartToo() {
        var node = new NodeInHand(seen(2)).xid(0, 79).over(0, 79);

        node.restarts("boot-1", seen(2));

        assertThat(node.healthy()).containsExactly(uuid(1));
        assertThat(node.after(NodeInHand.DWELL.toSeconds()).healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void oneGpuLostAtTheStartLeavesTheOtherSevenServed() {
        assertThat(new NodeInHand(eightButTheFourth()).healthy()).hasSize(7);
    }

    @Test
    void gpuThatWasLostBeforeTheStartIsStillListedUnderItsId() {
        var node = new NodeInHand(seen(8));

        node.restarts("boot-1", eightButTheFourth());

        assertThat(node.listed()).hasSize(8);
        assertThat(node.healthy()).hasSize(7).doesNotContain(uuid(3));
    }

    @Test
    void gpuThatIsLostWithoutAnEventIsWithdrawnByThePoll() {
        var node = new NodeInHand(seen(2)).polls(SomeVitals.well(0), SomeVitals.well(1));

        node.after(10).polls(SomeVitals.well(0).silent(), SomeVitals.well(1));

        assertThat(node.healthy()).containsExactly(uuid(1));
        assertThat(node.open()).containsExactly(new FaultCode.Plain(FaultCode.Kind.GPU_LOST));
    }

    @Test
    void gpuWhoseMemoryQueryAloneFailsIsNeverOffered() {
        var whole = gpu(0);
        var blind = whole.learnt(whole.links(), whole.fabricClique(), new Reading.Unavailable<>("UNKNOWN"));

        var node = new NodeInHand(new Look.Seen("570.124.06", "12.8", List.of(blind, gpu(1)), List.of()));

        assertThat(node.healthy()).containsExactly(uuid(1));
        assertThat(node.everHealthy()).doesNotContain(uuid(0));
    }

    @Test
    void addedGpuIsOfferedAndRemovedOneLeavesInTwoSteps() {
        var node = new NodeInHand(seen(1));
        assertThat(node.looks(seen(2)).healthy()).containsExactly(uuid(0), uuid(1));

        node.after(30).looks(seen(1));
        assertThat(node.healthy()).containsExactly(uuid(0));
        assertThat(node.listed()).containsExactly(uuid(0), uuid(1));

        assertThat(node.after(60).listed()).containsExactly(uuid(0));
    }

    private static Look oneOfTwo(String... onTheBus) {
        return new Look.Seen(
                "570.124.06",
                "12.8",
                List.of(gpu(0)),
                List.of(new Look.LostGpu(1, gpu(1).pciBusId(), "GPU_IS_LOST")),
                new Reading.Known<>(List.of(onTheBus)));
    }

    @Test
    void faultOfALostGpuStandsAndEndsWhenTheGpuIsTakenOut() {
        var node = new NodeInHand(seen(2)).xid(1, 79).looks(oneOfTwo("0000:00:00.0", "0001:00:00.0"));
        node.after(100_000).looks(oneOfTwo("0000:00:00.0", "0001:00:00.0"));
        assertThat(node.open()).hasSize(2).contains(new FaultCode.Plain(FaultCode.Kind.GPU_LOST));

        // When the kernel has it no more
        node.looks(oneOfTwo("0000:00:00.0"));

        // Then it leaves the list, Unhealthy for long enough as it is, and its faults end
        assertThat(node.listed()).containsExactly(uuid(0));
        assertThat(node.after(NodeInHand.DWELL.toSeconds()).open()).isEmpty();
        assertThat(node.told(Fact.FaultCleared.class)).hasSize(2);
        node.restarts("boot-1", oneOfTwo("0000:00:00.0"));
        assertThat(node.open()).isEmpty();
        assertThat(node.listed()).containsExactly(uuid(0));
    }

    @Test
    void gpuThatIsTakenOutAndPutBackDoesNotShortenItsDwell() {
        var node = new NodeInHand(seen(2)).xid(1, 79).looks(oneOfTwo("0000:00:00.0"));

        node.after(30).looks(seen(2));

        assertThat(node.healthy()).containsExactly(uuid(0));
        node.after(NodeInHand.DWELL.toSeconds() - 31);
        assertThat(node.healthy()).containsExactly(uuid(0));
        assertThat(node.after(1).healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void faultOfAGpuThatWasReplacedEndsWithIt() {
        var node = new NodeInHand(seen(2)).xid(1, 79);
        var other = new Gpu(
                uuid(5),
                gpu(5).serial(),
                1,
                1,
                gpu(1).pciBusId(),
                gpu(1).model(),
                gpu(1).shortModel(),
                gpu(1).family(),
                gpu(1).computeCapability(),
                gpu(1).memoryBytes(),
                gpu(1).vbiosVersion(),
                gpu(1).numaNode(),
                gpu(1).migEnabled(),
                gpu(1).links(),
                gpu(1).fabricClique(),
                gpu(1).mode(),
                gpu(1).instances(),
                gpu(1).pciRoute(),
                gpu(1).vgpuHost());

        node.looks(new Look.Seen("570.124.06", "12.8", List.of(gpu(0), other), List.of()));

        assertThat(node.healthy()).containsExactly(uuid(0), uuid(5));
        assertThat(node.after(NodeInHand.DWELL.toSeconds()).open()).isEmpty();
    }

    @Test
    void nodeWithoutNvmlAtTheStartIsServedOnceThereIsOne() {
        var node = new NodeInHand(NOTHING);
        assertThat(node.listed()).isEmpty();
        assertThat(node.open()).isEmpty();

        assertThat(node.after(2).looks(seen(2)).healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void waitThatFailsTwentyThousandTimesChangesNoListAndTellsTheOpenFaultsOnce() {
        var node = new NodeInHand(seen(2));
        int lists = node.shownLists();
        int open = node.told(Fact.FaultsOpen.class).size();

        for (int i = 0; i < 20_000; i++) {
            node.takes(new Input.Noticed(new Sign.FaultSeen(
                    "", "", new FaultCode.Plain(FaultCode.Kind.EVENT_WAIT), FaultOrigin.POLL, "UNKNOWN")));
        }

        assertThat(node.shownLists()).isEqualTo(lists);
        assertThat(node.told(Fact.FaultsOpen.class)).hasSize(open + 1);
        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void everyReplicaOfAFailedGpuFollowsIt() {
        var shared = new SharePlan(
                SharePlan.Means.TIME_SLICING,
                false,
                false,
                List.of(new SharePlan.SharedResource("nvidia.com/gpu", "", new SharePlan.Pick.All(), 4)));
        var node = new NodeInHand(seen(2), settings(MigStrategy.NONE, shared), LONG_UP);
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
                    new MigInstance.Attributes(10L << 30, 14, 1, 1, 1, 0, 0, 0, 0),
                    List.of(),
                    new Reading.Unavailable<>("not read")));
        }
        Gpu split = gpu(0).partitioned(new Reading.Known<>(true), instances);
        var node = new NodeInHand(
                new Look.Seen("570.124.06", "12.8", List.of(split, gpu(1)), List.of()),
                settings(MigStrategy.MIXED, SharePlan.NONE),
                LONG_UP);
        assertThat(node.healthy()).containsExactly(uuid(1), "MIG-0", "MIG-1", "MIG-2");

        node.xid(0, 79);

        assertThat(node.healthy()).containsExactly(uuid(1));
    }

    @Test
    void linksThatComeUpAfterABootAndOneMomentOfThePowerBrakeAreNothing() {
        var node = new NodeInHand(seen(1), PluginSettings.STANDARD, Duration.ofSeconds(40));

        node.polls(SomeVitals.well(0).linksDown(18).clockReasons(new Reading.Known<>(0x88L)))
                .after(10)
                .polls(SomeVitals.well(0));

        assertThat(node.told(Fact.FaultObserved.class)).isEmpty();
        assertThat(node.healthy()).containsExactly(uuid(0));
    }

    private static PluginSettings settings(MigStrategy mig, SharePlan sharing) {
        var standard = PluginSettings.STANDARD;
        return new PluginSettings(mig, sharing, ReplicaOrder.DISTRIBUTED, standard.allocate(), standard.xids());
    }
}
