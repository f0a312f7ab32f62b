package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StrangersTest {
    private static final String MIG = "MIG-0";
    private static final ProcessOwner HOST = new ProcessOwner.Host();
    private static final Holdings NOBODY = new Holdings(List.of(), true);

    private Strangers strangers = Strangers.NONE;

    private static ProcessOwner pod(String uid) {
        return new ProcessOwner.Pod(uid);
    }

    private static ComputeProcess process(int pid, String device, ProcessOwner owner) {
        return new ComputeProcess(pid, device, new Known<>(100L), owner);
    }

    private static Holdings held(String uid, String resource, String... ids) {
        return new Holdings(List.of(new Holder("ns", "pod", uid, "main", resource, List.of(ids))), true);
    }

    private List<UnheldUse> poll(double at, Holdings holdings, ComputeProcess... processes) {
        Vitals vitals = SomeVitals.well(0)
                .processes(new Known<>(Arrays.asList(processes)))
                .now();
        strangers = strangers.polled(List.of(vitals), holdings, Set.of(uuid(0)), second(at));
        return strangers.unheld();
    }

    private List<UnheldUse> twice(Holdings holdings, ComputeProcess... processes) {
        poll(0, holdings, processes);
        return poll(10, holdings, processes);
    }

    private static List<UnheldUse> use(String device, String podUid, int processes) {
        return List.of(new UnheldUse(device, podUid, processes, new Known<>(100L * processes)));
    }

    @Test
    void podThatHoldsTheGpuIsNoStrangerNorIsOneThatHoldsAShare() {
        assertThat(twice(held("a", "nvidia.com/gpu", uuid(0)), process(1, uuid(0), pod("a"))))
                .isEmpty();
        assertThat(twice(held("a", "nvidia.com/gpu.shared", uuid(0) + "::3"), process(1, uuid(0), pod("a"))))
                .isEmpty();
    }

    @Test
    void podOnAGpuThatItDoesNotHoldIsTold() {
        assertThat(twice(
                        held("a", "nvidia.com/gpu", uuid(0)),
                        process(1, uuid(0), pod("a")),
                        process(2, uuid(0), pod("b")),
                        process(3, uuid(0), pod("b"))))
                .isEqualTo(use(uuid(0), "b", 2));
    }

    @Test
    void processOfTheNodeIsToldUnderNoPod() {
        assertThat(twice(NOBODY, process(1, uuid(0), HOST))).isEqualTo(use(uuid(0), "", 1));
    }

    @Test
    void oneSightingIsNoneAndTwoInQuickSuccessionAreOne() {
        assertThat(poll(0, NOBODY, process(1, uuid(0), HOST))).isEmpty();
        assertThat(poll(0.1, NOBODY, process(1, uuid(0), HOST))).isEmpty();
        assertThat(poll(10, NOBODY, process(1, uuid(0), HOST))).hasSize(1);
    }

    @Test
    void anotherProcessBeginsAnewAndOneThatWentIsForgottenAtOnce() {
        poll(0, NOBODY, process(1, uuid(0), HOST));

        assertThat(poll(10, NOBODY, process(2, uuid(0), HOST))).isEmpty();
        assertThat(poll(20, NOBODY, process(2, uuid(0), HOST))).hasSize(1);
        assertThat(poll(20.1, NOBODY)).isEmpty();
    }

    @Test
    void whatCanNotBeLookedAtStaysAsItWas() {
        twice(NOBODY, process(1, uuid(0), HOST));

        Vitals mute =
                SomeVitals.well(0).processes(new Unavailable<>("NO_PERMISSION")).now();
        assertThat(strangers
                        .polled(List.of(mute), NOBODY, Set.of(uuid(0)), second(20))
                        .unheld())
                .hasSize(1);
        assertThat(strangers
                        .polled(List.of(), NOBODY, Set.of(uuid(0)), second(20))
                        .unheld())
                .hasSize(1);
        assertThat(strangers
                        .polled(List.of(), NOBODY, Set.of(uuid(1)), second(20))
                        .unheld())
                .isEmpty();
    }

    @Test
    void podIsNotJudgedWhileHoldersAreNotAllKnownButTheNodesProcessesAre() {
        var incomplete = new Holdings(List.of(), false);

        assertThat(twice(incomplete, process(1, uuid(0), pod("a")))).isEmpty();
        assertThat(twice(incomplete, process(1, uuid(0), HOST))).hasSize(1);
    }

    @Test
    void podIsNotJudgedWhileTheUidOfAHolderOfTheGpuIsUnknown() {
        assertThat(twice(held("", "nvidia.com/gpu", uuid(0)), process(1, uuid(0), pod("a"))))
                .isEmpty();
        assertThat(twice(held("", "nvidia.com/gpu", uuid(1)), process(1, uuid(0), pod("a"))))
                .hasSize(1);
    }

    @Test
    void whatWasToldStandsWhileNobodyCanJudge() {
        twice(NOBODY, process(1, uuid(0), pod("a")));

        assertThat(poll(20, new Holdings(List.of(), false), process(1, uuid(0), pod("a"))))
                .hasSize(1);
        assertThat(poll(30, held("a", "nvidia.com/gpu", uuid(0)), process(1, uuid(0), pod("a"))))
                .isEmpty();
    }

    @Test
    void instancesAreJudgedOneByOne() {
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
    void processOnAnInstanceThatNobodyKnowsIsNotJudged() {
        assertThat(twice(NOBODY, process(1, "", HOST), process(2, "", pod("a"))))
                .isEmpty();
    }

    @Test
    void podWithAClaimWhosePlaceNobodyKnowsIsNotJudged() {
        Holdings claim = held("a", Holder.DRA_DRIVER, "gpu-0-mig-19-4-1");

        assertThat(twice(claim, process(1, uuid(0), pod("a")), process(2, uuid(0), pod("b"))))
                .isEqualTo(use(uuid(0), "b", 1));
    }

    @Test
    void mpsAndWhomNobodyKnowsAreNotTold() {
        assertThat(twice(
                        NOBODY,
                        process(1, uuid(0), new ProcessOwner.Mps()),
                        process(2, uuid(0), new ProcessOwner.Unknown("unreadable"))))
                .isEmpty();
    }

    @Test
    void partOfASumIsNoSum() {
        var mute = new ComputeProcess(2, uuid(0), new Unavailable<>("NOT_AVAILABLE"), HOST);

        assertThat(twice(NOBODY, process(1, uuid(0), HOST), mute))
                .containsExactly(new UnheldUse(uuid(0), "", 2, new Unavailable<>("NOT_AVAILABLE")));
    }

    @Test
    void moreMemoryIsNoOtherUse() {
        twice(NOBODY, process(1, uuid(0), HOST));
        Strangers before = strangers;

        poll(20, NOBODY, new ComputeProcess(1, uuid(0), new Known<>(900L), HOST));

        assertThat(strangers.unheld().getFirst().usedBytes()).isEqualTo(new Known<>(900L));
        assertThat(strangers.differsFrom(before)).isFalse();
        poll(21, NOBODY);
        assertThat(strangers.differsFrom(before)).isTrue();
    }
}
