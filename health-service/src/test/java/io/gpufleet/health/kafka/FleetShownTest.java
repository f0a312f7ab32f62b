package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.config.PolicyTexts;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.proto.health.v1.DeviceOffer;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.health.v1.RecoveryAction;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stories of whole fleets without any limit: what the policies alone would do to them. */
class FleetShownTest {
    private static final int GPUS = 4;
    private static final int[] BENIGN = {13, 31, 43, 45, 63, 94};

    private ProjectedNodes nodes = nodes(PolicyFile.load("nvidia"));

    private static ProjectedNodes nodes(HealthPolicy policy) {
        return new ProjectedNodes(projection(policy), NodeScenario.START);
    }

    private static HealthProjection projection(HealthPolicy policy) {
        return new HealthProjection(new HealthMachine(policy, Duration.ofMinutes(10)), DisruptionBudgets.NONE);
    }

    private void fleet(int count) {
        for (int node = 0; node < count; node++) {
            var announced = NodeAnnounced.newBuilder().setBootId("boot-1");
            for (int gpu = 0; gpu < GPUS; gpu++) {
                announced.addGpus(Gpu.newBuilder().setUuid(gpu(node, gpu)));
            }
            nodes.daemon("node-" + node, Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced.build());
        }
    }

    private static String gpu(int node, int gpu) {
        return "gpu-" + node + "-" + gpu;
    }

    private void fault(int node, int gpu, Fault.Builder fault) {
        nodes.daemon(
                "node-" + node,
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId("boot-1")
                        .setFault(fault.setDeviceUuid(gpu(node, gpu)))
                        .build());
    }

    private static Fault.Builder xid(int xid) {
        return Fault.newBuilder()
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .setRecoveryAction(RecoveryAction.RECOVERY_ACTION_NONE);
    }

    private static Fault.Builder kind(FaultKind kind) {
        return Fault.newBuilder().setKind(kind).setRecoveryAction(RecoveryAction.RECOVERY_ACTION_NONE);
    }

    private long withdrawn() {
        return count(state -> true);
    }

    private long count(Predicate<NodeState> wanted) {
        var found = new long[1];
        nodes.forEach((_, state) -> found[0] += wanted.test(state)
                ? state.devices().values().stream().filter(state::withdrawn).count()
                : 0);
        return found[0];
    }

    private long tainted() {
        var found = new long[1];
        nodes.forEach((_, state) -> found[0] += state.tainted() ? 1 : 0);
        return found[0];
    }

    private void tickAll(int count) {
        IntStream.range(0, count).forEach(node -> nodes.tick("node-" + node));
    }

    @Test
    void linksThatAreDownAtTheBootOfARackWithdrawOnlyWhatStaysDown() {
        // Given
        nodes = nodes(PolicyFile.load("aggressive"));
        fleet(72);

        // When
        for (int gpu = 0; gpu < 214; gpu++) {
            fault(gpu / GPUS, gpu % GPUS, kind(FaultKind.FAULT_KIND_NVLINK));
            fault(gpu / GPUS, gpu % GPUS, xid(74));
        }
        assertThat(withdrawn()).as("214 of 288 at boot").isZero();
        for (int gpu = 2; gpu < 214; gpu++) {
            for (var cleared : new Fault.Builder[] {kind(FaultKind.FAULT_KIND_NVLINK), xid(74)}) {
                nodes.daemon(
                        "node-" + gpu / GPUS,
                        Topic.HEALTH,
                        EventType.FAULT_CLEARED,
                        FaultCleared.newBuilder()
                                .setBootId("boot-1")
                                .setFault(cleared.setDeviceUuid(gpu(gpu / GPUS, gpu % GPUS)))
                                .setProof("links are up")
                                .build());
            }
        }
        nodes.advance(Duration.ofMinutes(11));
        tickAll(72);

        // Then
        assertThat(withdrawn()).as("still down after the grace").isEqualTo(2);
    }

    @Test
    void powerBrakeInOnePollWithdrawsNothing() {
        for (String pack : new String[] {"nvidia", "conservative", "aggressive"}) {
            nodes = nodes(PolicyFile.load(pack));
            fleet(36);

            for (int gpu = 0; gpu < 36 * GPUS; gpu++) {
                fault(gpu / GPUS, gpu % GPUS, kind(FaultKind.FAULT_KIND_THROTTLE));
            }

            assertThat(withdrawn()).as(pack).isZero();
            assertThat(tainted()).as(pack).isZero();
        }
    }

    @Test
    void imexDomainOfIdleNodesWithdrawsNothing() {
        fleet(288);

        for (int node = 0; node < 288; node++) {
            fault(
                    node,
                    0,
                    Fault.newBuilder()
                            .setKind(FaultKind.FAULT_KIND_RECOVERY_ACTION)
                            .setRecoveryAction(RecoveryAction.RECOVERY_ACTION_RECOVER_IMEX_DOMAIN));
        }

        assertThat(withdrawn()).isZero();
        assertThat(tainted()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void fatalFaultsAmongBenignOnesAreExactlyThoseThatTaintWhateverIsKilled(long seed) {
        // Given
        var random = new Random(seed);
        fleet(10_005);
        var faulty = new ArrayList<>(IntStream.range(0, 2_000).boxed().toList());
        Collections.shuffle(faulty, random);

        // When: a batch of events either survives, or the replica dies before or after it was committed
        for (int from = 0; from < faulty.size(); from += 100) {
            List<Integer> batch = faulty.subList(from, from + 100);
            int kill = random.nextInt(4);
            if (kill == 0) {
                nodes.undone(() -> batch.forEach(this::fatalOrBenign));
                killed();
            }
            batch.forEach(this::fatalOrBenign);
            if (kill == 1) {
                killed();
            }
        }

        // Then
        assertThat(tainted()).isEqualTo(200);
        assertThat(withdrawn()).isEqualTo(200);
        assertThat(count(state -> Integer.parseInt(state.node().name().substring("node-".length())) < 200))
                .isEqualTo(200);
    }

    private void fatalOrBenign(int node) {
        fault(node, node % GPUS, xid(node < 200 ? 79 : BENIGN[node % BENIGN.length]));
    }

    private void killed() {
        nodes = nodes.restored(projection(PolicyFile.load("nvidia")));
    }

    @Test
    void rollingDriverUpgradeTaintsNothingSoThatDriverPodsSchedule() {
        for (String pack : new String[] {"nvidia", "conservative", "aggressive"}) {
            nodes = nodes(PolicyFile.load(pack));
            fleet(72);

            for (int from = 0; from < 72; from += 8) {
                int wave = from;
                IntStream.range(wave, wave + 8).forEach(node -> {
                    driver(node, EventType.FAULT_OBSERVED);
                    offered(node, false);
                });
                for (int minute = 0; minute < 15; minute++) {
                    nodes.advance(Duration.ofMinutes(1));
                    tickAll(72);
                    assertThat(tainted()).as(pack).isZero();
                }
                IntStream.range(wave, wave + 8).forEach(node -> {
                    driver(node, EventType.FAULT_CLEARED);
                    offered(node, true);
                });
                tickAll(72);
            }

            assertThat(tainted()).as(pack).isZero();
            assertThat(withdrawn()).as(pack).isZero();
        }
    }

    /** The driver of a node goes, or is back. */
    private void driver(int node, EventType type) {
        Fault.Builder gone = kind(FaultKind.FAULT_KIND_DRIVER);
        Message payload = type == EventType.FAULT_OBSERVED
                ? FaultObserved.newBuilder().setBootId("boot-1").setFault(gone).build()
                : FaultCleared.newBuilder()
                        .setBootId("boot-1")
                        .setFault(gone)
                        .setProof("the driver answers")
                        .build();
        nodes.daemon("node-" + node, Topic.HEALTH, type, payload);
    }

    /** The daemon offers the GPUs of its node to the kubelet, or does not. */
    private void offered(int node, boolean healthy) {
        IntStream.range(0, GPUS)
                .forEach(gpu -> nodes.daemon(
                        "node-" + node,
                        Topic.HEALTH,
                        EventType.DEVICE_OFFERED,
                        DeviceOfferChanged.newBuilder()
                                .setBootId("boot-1")
                                .setOffer(DeviceOffer.newBuilder()
                                        .setDeviceUuid(gpu(node, gpu))
                                        .setOfferedHealthy(healthy)
                                        .setLocallyHealthy(healthy)
                                        .setOverlayAllows(true))
                                .build()));
    }

    @Test
    void nodeWithoutTheGpuThatFellOffTheBusStaysMarkedAfterTheReboot() {
        announced(1, IntStream.range(0, 8));
        fault(0, 3, xid(79));
        assertThat(tainted()).isEqualTo(1);

        nodes.advance(Duration.ofMinutes(5));
        announced(2, IntStream.range(0, 8).filter(gpu -> gpu != 3));
        nodes.daemon(
                "node-0",
                2,
                Topic.HEALTH,
                EventType.FAULTS_OPEN,
                OpenFaults.newBuilder().setBootId("boot-2").build());
        nodes.tick("node-0");

        assertThat(tainted()).isEqualTo(1);
        assertThat(withdrawn()).isEqualTo(1);
    }

    private void announced(int boot, IntStream gpus) {
        nodes.daemon(
                "node-0",
                boot,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-" + boot)
                        .addAllGpus(gpus.mapToObj(gpu -> Gpu.newBuilder()
                                        .setUuid(gpu(0, gpu))
                                        .setPciBusId("0000:0" + gpu)
                                        .build())
                                .toList())
                        .build());
    }

    @Test
    void policyThatCountsOneOfNIsNotFooledByRepetitions() {
        nodes = nodes(PolicyTexts.nvidiaWith(
                "throttle: {class: suspect}",
                "throttle: {class: withdraw, threshold: {count: 2, of: 2, within: PT2M}}"));
        fleet(1);

        for (int i = 0; i < 50; i++) {
            fault(0, 0, kind(FaultKind.FAULT_KIND_THROTTLE));
        }

        assertThat(withdrawn()).isZero();
    }
}
