package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFault;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.testbed.testkit.LogLines;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Facts that no sound daemon reports: nothing is done about them, and nothing that was done is undone. */
class BadFactsTest {
    private static final String NODE = "node-1";
    private static final Instant FAR = Instant.parse("9999-01-01T00:00:00Z");

    private final HealthProjection projection = new HealthProjection(
            new HealthMachine(PolicyFile.load("nvidia"), Duration.ofMinutes(10)), DisruptionBudgets.NONE);
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);
    private final List<String> deadLetters = new ArrayList<>();
    private long sequence;

    @BeforeEach
    void nodeWithTwoGpus() {
        daemon(NODE, 1_000, EventType.NODE_ANNOUNCED, announced("boot-1", 2).build());
    }

    private void daemon(String node, long epoch, EventType type, Message payload) {
        daemon(node, epoch, type, payload, new EventTime(nodes.now(), nodes.now(), 0));
    }

    private void daemon(String node, long epoch, EventType type, Message payload, EventTime time) {
        sequence++;
        Topic topic = type == EventType.NODE_ANNOUNCED ? Topic.INVENTORY : Topic.HEALTH;
        Instant at = nodes.now();
        var envelope = new Envelope(
                new EventId(node, epoch, topic, sequence), new EventSource.Node("c1", node), type, "", node, time, "");
        try {
            nodes.event(new Inbound.Event(envelope, payload, at, false));
        } catch (IllegalArgumentException refused) {
            // The engine writes it to the dead letters with this reason.
            deadLetters.add(String.valueOf(refused.getMessage()));
        }
    }

    private static NodeAnnounced.Builder announced(String boot, int gpus) {
        var announced = NodeAnnounced.newBuilder().setBootId(boot);
        for (int gpu = 0; gpu < gpus; gpu++) {
            announced.addGpus(Gpu.newBuilder().setUuid("gpu-" + gpu));
        }
        return announced;
    }

    private static Fault.Builder xid(int number) {
        return Fault.newBuilder()
                .setDeviceUuid("gpu-0")
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(number);
    }

    private static FaultObserved observed(String boot, Fault.Builder fault) {
        return FaultObserved.newBuilder().setBootId(boot).setFault(fault).build();
    }

    private NodeState state(String node) {
        return nodes.get(node).orElseThrow();
    }

    private boolean inService(String node) {
        NodeState state = state(node);
        return !state.tainted() && state.devices().values().stream().noneMatch(state::withdrawn);
    }

    static Stream<Arguments> badFacts() {
        return Stream.of(
                Arguments.of("XID 0", EventType.FAULT_OBSERVED, observed("boot-1", xid(0))),
                Arguments.of("XID 2^31", EventType.FAULT_OBSERVED, observed("boot-1", xid(Integer.MIN_VALUE))),
                Arguments.of("largest XID", EventType.FAULT_OBSERVED, observed("boot-1", xid(-1))),
                Arguments.of(
                        "unknown kind",
                        EventType.FAULT_OBSERVED,
                        observed(
                                "boot-1",
                                Fault.newBuilder().setDeviceUuid("gpu-0").setKindValue(9_999))),
                Arguments.of("no kind", EventType.FAULT_OBSERVED, observed("boot-1", Fault.newBuilder())),
                Arguments.of("no boot id", EventType.FAULT_OBSERVED, observed("", xid(79))),
                Arguments.of("empty fact", EventType.FAULT_OBSERVED, FaultObserved.getDefaultInstance()),
                Arguments.of("empty list", EventType.FAULTS_OPEN, OpenFaults.getDefaultInstance()),
                Arguments.of("empty announcement", EventType.NODE_ANNOUNCED, NodeAnnounced.getDefaultInstance()),
                Arguments.of(
                        "time in the future",
                        EventType.NODE_ANNOUNCED,
                        announced("boot-1", 2)
                                .setGpusKnownSince(Timestamp.newBuilder().setSeconds(FAR.getEpochSecond()))
                                .build()),
                Arguments.of("device of no name", EventType.FAULT_CLEARED, FaultCleared.getDefaultInstance()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badFacts")
    void nothingIsDoneAboutABadFact(String what, EventType type, Message fact) {
        daemon(NODE, 1_000, type, fact);

        assertThat(inService(NODE)).as(what).isTrue();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badFacts")
    void badFactOfANewIncarnationUndoesNothing(String what, EventType type, Message fact) {
        daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", xid(79)));

        daemon(NODE, 2_000, type, fact);

        assertThat(state(NODE).tainted()).as(what).isTrue();
        assertThat(state(NODE).boot().id()).as(what).isEqualTo("boot-1");
    }

    @Test
    void factWithoutABootIsADeadLetterWithOneLine() {
        daemon(NODE, 2_000, EventType.FAULT_OBSERVED, observed("", xid(79)));

        assertThat(deadLetters)
                .containsExactly("boot_id is empty: io.gpufleet.fault.observed.v1 of a daemon takes the boot id of its"
                        + " machine");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "-2147483648, 2147483648", "-1, 4294967295"})
    void numberThatNoXidHasIsADeadLetterWithOneLine(int wire, String number) {
        daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", xid(wire)));

        assertThat(deadLetters)
                .containsExactly(
                        "xid " + number + " of device 'gpu-0' is no XID: 1 to 2147483647, as the driver logs it");
    }

    @Test
    void incarnationThatGoesBackBeginsNoBoot() {
        daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", xid(79)));

        daemon(NODE, 999, EventType.NODE_ANNOUNCED, announced("boot-0", 2).build());

        assertThat(state(NODE).boot().id()).isEqualTo("boot-1");
        assertThat(state(NODE).tainted()).isTrue();
    }

    @Test
    void wallClockOfADaemonDecidesNothing() {
        daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", xid(79)), new EventTime(FAR, FAR, 0));

        assertThat(state(NODE).tainted()).isTrue();
        assertThat(state(NODE).health().since()).isBefore(FAR);
    }

    @Test
    void faultOfAnyAgeIsNoErrorAndAnOldOneActsNot() {
        for (long age : new long[] {Long.MAX_VALUE, Duration.ofDays(400).toMillis()}) {
            daemon(
                    NODE,
                    1_000,
                    EventType.FAULT_OBSERVED,
                    observed("boot-1", xid(79)),
                    new EventTime(nodes.now(), nodes.now(), age));

            assertThat(inService(NODE)).as("%d ms", age).isTrue();
        }
        assertThat(deadLetters).isEmpty();
    }

    @Test
    void tenThousandDevicesAreCutToTheLimit() {
        daemon(
                "node-2",
                1_000,
                EventType.NODE_ANNOUNCED,
                announced("boot-1", 10_000).build());

        assertThat(state("node-2").devices()).hasSize(HealthMachine.MAX_DEVICES);
        assertThat(inService("node-2")).isTrue();
    }

    @Test
    void devicesBeyondTheLimitAreOneLineHoweverOftenTheyAreAnnounced() {
        try (var lines = LogLines.of(FactWarnings.class.getName())) {
            Message announced = announced("boot-1", 10_000).build();
            daemon("node-2", 1_000, EventType.NODE_ANNOUNCED, announced);
            daemon("node-2", 1_000, EventType.NODE_ANNOUNCED, announced);

            assertThat(lines.all())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("more devices are announced than a node may have")
                            .endsWith(" node=node-2 devices=10000 limit=256"));
        }
    }

    @Test
    void setOfGpusThatIsKnownSinceTheFarFutureIsOneLine() {
        try (var lines = LogLines.of(FactWarnings.class.getName())) {
            for (Instant since : List.of(nodes.now().plus(Duration.ofHours(1)), FAR, FAR)) {
                daemon(
                        NODE,
                        1_000,
                        EventType.NODE_ANNOUNCED,
                        announced("boot-1", 2)
                                .setGpusKnownSince(TimestampMapping.toWire(since))
                                .build());
            }

            assertThat(lines.all())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("daemon knows its GPUs since a time in the far future")
                            .endsWith(" node=node-1 gpus_known_since=9999-01-01T00:00:00Z"));
        }
    }

    @Test
    void kindThatIsUnknownIsOneLineForEachNode() {
        try (var lines = LogLines.of(FactWarnings.class.getName())) {
            Fault.Builder unknown = Fault.newBuilder().setDeviceUuid("gpu-0").setKindValue(9_999);
            daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", unknown));
            daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", unknown));
            daemon(
                    "node-2",
                    1_000,
                    EventType.FAULTS_OPEN,
                    OpenFaults.newBuilder()
                            .setBootId("boot-2")
                            .addFaults(OpenFault.newBuilder().setFault(unknown))
                            .build());
            daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", xid(79)));

            assertThat(lines.all())
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line)
                            .startsWith("kind of fault is unknown, so that nothing is done about it")
                            .endsWith(" device=gpu-0 kind=9999"));
            assertThat(lines.all().getFirst()).contains("node=node-1");
            assertThat(lines.all().getLast()).contains("node=node-2");
        }
    }

    @Test
    void faultOfAUuidThatTwoNodesListTakesOneNodeOut() {
        daemon("node-2", 1_000, EventType.NODE_ANNOUNCED, announced("boot-2", 2).build());

        daemon(NODE, 1_000, EventType.FAULT_OBSERVED, observed("boot-1", xid(79)));

        assertThat(inService(NODE)).isFalse();
        assertThat(inService("node-2")).isTrue();
    }
}
