package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.google.protobuf.Message;
import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.ledger.NodeClock;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.proto.allocation.v1.DeviceInterval;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UnallocatedUse;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.PodFact;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Inputs of the bus become node ledgers and usage, each input as a whole. */
class AllocationProjectionTest {
    private static final String NODE = "n1";
    private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    private static final Instant START = Instant.parse("2026-11-20T12:00:00Z");

    private final AllocationProjection projection = new AllocationProjection("c1");
    private final KnownStates states = new KnownStates();
    private long sequence;

    /** States that a test applies effects to, as the engine does. */
    private static final class KnownStates implements States<NodeLedger> {
        private final Map<String, NodeLedger> byKey = new HashMap<>();

        @Override
        public Optional<NodeLedger> get(String key) {
            return Optional.ofNullable(byKey.get(key));
        }

        @Override
        public int size() {
            return byKey.size();
        }

        @Override
        public void forEach(BiConsumer<String, NodeLedger> each) {
            byKey.forEach(each);
        }
    }

    private static Instant at(int seconds) {
        return START.plusSeconds(seconds);
    }

    private Inbound.Event event(Topic topic, EventType type, int seconds, Message payload) {
        return event(topic, type, at(seconds), false, payload);
    }

    private Inbound.Event event(Topic topic, EventType type, Instant time, boolean newMachine, Message payload) {
        var source = new EventSource.Node("c1", NODE);
        var envelope = new Envelope(
                new EventId(NODE, 1, topic, ++sequence), source, type, "", NODE, new EventTime(time, time, 0), TRACE);
        return new Inbound.Event(envelope, payload, time, newMachine);
    }

    private static DevicesHeld held(String boot, String... pods) {
        var held = DevicesHeld.newBuilder().setBootId(boot).setComplete(true);
        for (int i = 0; i < pods.length; i++) {
            held.addHolders(Holder.newBuilder()
                    .setNamespace("ml")
                    .setPod(pods[i])
                    .setPodUid("uid-" + pods[i])
                    .setContainer("main")
                    .setResource("nvidia.com/gpu")
                    .addDevices(HeldDevice.newBuilder()
                            .setId("g" + i)
                            .setDeviceUuid("g" + i)
                            .setShortModel("A100")
                            .setShareOf(1)));
        }
        return held.build();
    }

    private Inbound.Event snapshot(int seconds, String... pods) {
        return event(Topic.ALLOCATION, EventType.DEVICES_HELD, seconds, held("boot-1", pods));
    }

    private Effects<NodeLedger> apply(Inbound input) {
        Effects<NodeLedger> effects = projection.on(states, input, at(1_000));
        states.byKey.putAll(effects.states());
        return effects;
    }

    private NodeLedger ledger() {
        return states.get(NODE).orElseThrow();
    }

    private static List<UsageInterval> usage(Effects<NodeLedger> effects) {
        List<UsageInterval> usage = new ArrayList<>();
        for (Outbound output : effects.outputs()) {
            if (((Outbound.Event) output).payload() instanceof UsageInterval interval) {
                usage.add(interval);
            }
        }
        return usage;
    }

    @Test
    void closedIntervalIsPublishedWithTheStateThatItLeavesAndTheTraceOfItsCause() {
        // Given
        apply(snapshot(0, "a"));
        // When
        Effects<NodeLedger> effects = apply(snapshot(10));
        // Then
        assertThat(ledger().open()).isEmpty();
        assertThat(effects.outputs()).singleElement().isInstanceOfSatisfying(Outbound.Event.class, output -> {
            assertThat(output.topic()).isEqualTo(Topic.USAGE);
            assertThat(output.type()).isEqualTo(EventType.USAGE_CLOSED);
            assertThat(output.key()).isEqualTo(NODE);
            assertThat(output.subject()).isEqualTo("g0");
            assertThat(output.time()).isEqualTo(at(1_000));
            assertThat(output.traceparent()).isEqualTo(TRACE);
        });
        assertThat(usage(effects).getFirst().getGpuMilliseconds()).isEqualTo(10_000);
    }

    @Test
    void everyOutputCarriesTheTraceOfItsCause() {
        apply(snapshot(0, "a", "b"));
        apply(snapshot(20));
        var pod = PodFact.newBuilder()
                .setNamespace("ml")
                .setName("a")
                .setUid("uid-a")
                .setFinishedAt(LedgerMapper.time(at(15)));
        // When
        Effects<NodeLedger> adjusted = apply(event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                21,
                KubernetesFact.newBuilder().setPod(pod).build()));
        apply(snapshot(30, "a", "b"));
        Effects<NodeLedger> replaced =
                apply(event(Topic.ALLOCATION, EventType.DEVICES_HELD, at(40), true, held("boot-2")));
        // Then
        List<Outbound> outputs = new ArrayList<>(adjusted.outputs());
        outputs.addAll(replaced.outputs());
        assertThat(outputs)
                .hasSize(2)
                .allSatisfy(output ->
                        assertThat(((Outbound.Event) output).traceparent()).isEqualTo(TRACE));
    }

    @Test
    void usageNamesNodeProductOwnerAndLabels() {
        apply(event(
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                0,
                NodeAnnounced.newBuilder()
                        .addGpus(Gpu.newBuilder()
                                .setUuid("g0")
                                .setModel("NVIDIA A100-SXM4-80GB")
                                .setShortModel("A100"))
                        .build()));
        apply(event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                1,
                KubernetesFact.newBuilder()
                        .setPod(PodFact.newBuilder()
                                .setNamespace("ml")
                                .setName("a")
                                .setUid("uid-a")
                                .setOwner("Job/train")
                                .putLabels("team", "vision"))
                        .build()));
        apply(snapshot(2, "a"));
        // When
        Effects<NodeLedger> ended = apply(snapshot(20));
        // Then
        UsageInterval usage = usage(ended).getFirst();
        assertThat(usage.getNode()).isEqualTo(NODE);
        assertThat(usage.getOwner()).isEqualTo("Job/train");
        assertThat(usage.getLabelsMap()).isEqualTo(Map.of("team", "vision"));
        assertThat(usage.getProduct()).isEqualTo("NVIDIA-A100-SXM4-80GB");
    }

    @Test
    void inputWithoutAFactChangesNothing() {
        apply(snapshot(0, "a"));
        var departed = NodeDeparted.newBuilder().setBootId("boot-1").build();
        assertThat(projection
                        .on(states, event(Topic.INVENTORY, EventType.NODE_DEPARTED, 1, departed), at(1))
                        .outputs())
                .isEmpty();
        assertThat(projection
                        .on(states, new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(1)), at(1))
                        .isEmpty())
                .isTrue();
        assertThat(projection
                        .on(states, new Inbound.Tombstone(Topic.VERDICTS, "unknown", at(1)), at(1))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void tombstoneOfAVerdictMakesEveryDeviceTrusted() {
        var distrusted = NodeVerdict.newBuilder()
                .addDevices(DeviceVerdict.newBuilder().setDeviceUuid("g0").setTrusted(false))
                .build();
        apply(event(Topic.VERDICTS, EventType.VERDICT_REACHED, 0, distrusted));
        assertThat(ledger().untrusted()).containsKey("g0");
        // When
        apply(new Inbound.Tombstone(Topic.VERDICTS, NODE, at(5)));
        // Then
        assertThat(ledger().untrusted()).isEmpty();
    }

    @Test
    void nodeWhoseVerdictWithdrawsEveryDeviceMakesTheTimeOnAllOfThemRefundable() {
        // Given
        apply(snapshot(0, "a"));
        // When only single devices taint the node
        var tainted = NodeVerdict.newBuilder().setTrusted(false);
        apply(event(Topic.VERDICTS, EventType.VERDICT_REACHED, 1, tainted.build()));
        // Then
        assertThat(openQualities()).containsExactly(IntervalQuality.ALLOCATED);
        // When the fault is of the whole node
        apply(event(
                Topic.VERDICTS,
                EventType.VERDICT_REACHED,
                2,
                tainted.setWithdrawsEveryDevice(true).build()));
        // Then
        assertThat(openQualities()).containsExactly(IntervalQuality.ALLOCATED_WHILE_FAULTY);
        // When
        apply(new Inbound.Tombstone(Topic.VERDICTS, NODE, at(5)));
        // Then
        assertThat(openQualities()).containsExactly(IntervalQuality.ALLOCATED);
    }

    private List<IntervalQuality> openQualities() {
        return ledger().open().values().stream().map(OpenUsageInterval::quality).toList();
    }

    @Test
    void nodeThatIsGoneIsForgottenAfterThirtyDays() {
        apply(snapshot(0, "a"));
        assertThat(projection.wakeAt(ledger())).isEqualTo(Instant.MAX);
        // When
        apply(nodeDeleted(10));
        // Then
        Instant forgotten = at(10).plus(Duration.ofDays(30));
        assertThat(projection.wakeAt(ledger())).isEqualTo(forgotten);
        assertThat(projection.tick(NODE, states, forgotten.minusMillis(1)).isEmpty())
                .isTrue();
        assertThat(projection.tick(NODE, states, forgotten)).isEqualTo(Effects.forget(NODE, List.of()));
    }

    @Test
    void nodeThatIsHeardAfterItsDeletionIsKeptLongerAndWhatItHoldsEndsWithIt() {
        apply(nodeDeleted(0));
        assertThat(states.byKey).isEmpty();
        apply(snapshot(5, "a"));
        apply(nodeDeleted(10));
        // When
        apply(snapshot(20, "b"));
        // Then
        Instant forgotten = at(20).plus(Duration.ofDays(30));
        assertThat(projection.wakeAt(ledger())).isEqualTo(forgotten);
        Effects<NodeLedger> effects = projection.tick(NODE, states, forgotten);
        assertThat(effects.forgotten()).containsExactly(NODE);
        assertThat(usage(effects)).singleElement().satisfies(closed -> {
            assertThat(closed.getPod()).isEqualTo("b");
            assertThat(closed.getReason()).isEqualTo("node-lost");
        });
    }

    @Test
    void nodeThatComesBackIsNotForgotten() {
        apply(snapshot(0, "a"));
        apply(nodeDeleted(10));
        // When
        apply(event(
                Topic.SIGNALS,
                EventType.KUBERNETES_OBSERVED,
                20,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder().setUid("uid-2"))
                        .build()));
        // Then
        assertThat(projection.wakeAt(ledger())).isEqualTo(Instant.MAX);
        assertThat(projection
                        .tick(NODE, states, at(10).plus(Duration.ofDays(31)))
                        .isEmpty())
                .isTrue();
    }

    private Inbound.Event announced(int seconds, LocalHealth health) {
        var gpu = Gpu.newBuilder()
                .setUuid("g0")
                .setModel("NVIDIA A100-SXM4-80GB")
                .setShortModel("A100")
                .setResource("nvidia.com/gpu")
                .setLocalHealth(health);
        return event(
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                seconds,
                NodeAnnounced.newBuilder()
                        .setDriverState(DriverState.DRIVER_STATE_READY)
                        .addGpus(gpu)
                        .build());
    }

    private List<DeviceInterval> deviceTime(Effects<NodeLedger> effects) {
        List<DeviceInterval> intervals = new ArrayList<>();
        for (Outbound output : effects.outputs()) {
            if (((Outbound.Event) output).payload() instanceof DeviceInterval interval) {
                intervals.add(interval);
            }
        }
        return intervals;
    }

    @Test
    void withdrawnGpuIsPublishedAsQuarantinedOnceItIsOfferedAgain() {
        apply(announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        apply(announced(10, LocalHealth.LOCAL_HEALTH_UNHEALTHY));
        // When
        Effects<NodeLedger> effects = apply(announced(30, LocalHealth.LOCAL_HEALTH_HEALTHY));
        // Then
        assertThat(deviceTime(effects)).singleElement().satisfies(interval -> {
            assertThat(interval.getQuality()).isEqualTo(UsageQuality.USAGE_QUALITY_QUARANTINED);
            assertThat(interval.getGpuMilliseconds()).isEqualTo(20_000);
            assertThat(interval.getNode()).isEqualTo(NODE);
            assertThat(interval.getProduct()).isEqualTo("NVIDIA-A100-SXM4-80GB");
        });
    }

    @Test
    void processesWithoutAnAllocationMakeTheTimeUnaccountedOnceTheKubeletIsKnownToHaveAnswered() {
        apply(announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        var used = held("boot-1").toBuilder()
                .addUnallocated(UnallocatedUse.newBuilder().setDeviceUuid("g0").setProcesses(1));
        apply(event(
                Topic.ALLOCATION,
                EventType.DEVICES_HELD,
                5,
                used.clone().setComplete(false).build()));
        assertThat(ledger().devices().outages()).isEmpty();
        apply(event(Topic.ALLOCATION, EventType.DEVICES_HELD, 10, used.build()));
        // When
        Effects<NodeLedger> effects = apply(snapshot(25));
        // Then
        assertThat(deviceTime(effects)).singleElement().satisfies(interval -> {
            assertThat(interval.getQuality()).isEqualTo(UsageQuality.USAGE_QUALITY_UNACCOUNTED);
            assertThat(interval.getGpuMilliseconds()).isEqualTo(15_000);
        });
    }

    @Test
    void intervalOfAnAnnouncedGpuReducesItsIdleTime() {
        apply(announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        apply(snapshot(5, "a", "b"));
        // When g0 is announced and g1 is not
        Effects<NodeLedger> effects = apply(snapshot(10));
        // Then
        assertThat(usage(effects)).extracting(UsageInterval::getReducesIdle).containsExactly(true, false);
    }

    @Test
    void firstHeartbeatAfterASilenceEndsIt() {
        apply(announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        Instant silent = at(0).plus(NodeClock.TOLERATED_SILENCE);
        states.byKey.putAll(projection.tick(NODE, states, silent.plusSeconds(1)).states());
        assertThat(ledger().devices().silent()).isTrue();
        // When
        Effects<NodeLedger> effects = apply(new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(600)));
        // Then
        assertThat(ledger().devices().silent()).isFalse();
        assertThat(deviceTime(effects))
                .extracting(DeviceInterval::getQuality, DeviceInterval::getGpuMilliseconds)
                .containsExactly(tuple(UsageQuality.USAGE_QUALITY_UNREACHABLE, 600_000L));
        // When
        assertThat(projection
                        .on(states, new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(610)), at(610))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void lastWordOfADaemonWithoutHoldersIsRecordedHourly() {
        apply(announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        apply(announced(0, LocalHealth.LOCAL_HEALTH_HEALTHY));
        assertThat(projection
                        .on(states, new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(3_600)), at(3_600))
                        .isEmpty())
                .isTrue();
        apply(new Inbound.Heartbeat(Topic.TELEMETRY, NODE, at(3_601)));
        assertThat(ledger().clock().heardAt()).isEqualTo(at(3_601));
    }

    private Inbound.Event nodeDeleted(int seconds) {
        var fact = KubernetesFact.newBuilder()
                .setNodeDeleted(NodeDeleted.newBuilder().setUid("uid-1"))
                .build();
        var service = new EventSource.Service("c1", "health-service-0");
        var envelope = new Envelope(
                new EventId(service.name(), 1, Topic.SIGNALS, ++sequence),
                service,
                EventType.KUBERNETES_OBSERVED,
                "",
                NODE,
                new EventTime(at(seconds), at(seconds), 0),
                TRACE);
        return new Inbound.Event(envelope, fact, at(seconds), false);
    }

    @Test
    void replacedMachineAndTheFactOfItsSuccessorAreOneUpdate() {
        apply(snapshot(0, "a"));
        // When
        Effects<NodeLedger> effects =
                apply(event(Topic.ALLOCATION, EventType.DEVICES_HELD, at(40), true, held("boot-2", "b")));
        // Then
        assertThat(usage(effects)).singleElement().satisfies(closed -> {
            assertThat(closed.getPod()).isEqualTo("a");
            assertThat(closed.getReason()).isEqualTo("machine-replaced");
        });
        assertThat(ledger().open().values())
                .singleElement()
                .satisfies(open -> assertThat(open.holding().holder().pod()).isEqualTo("b"));
    }

    @Test
    void inputThatThrowsAfterItsMachineWasReplacedLosesNoUsage() {
        apply(snapshot(0, "a"));
        NodeLedger before = ledger();
        Inbound.Event broken = event(Topic.ALLOCATION, EventType.DEVICES_HELD, Instant.MAX, true, held("boot-2", "b"));
        var appended = new Inbound.Event(broken.envelope(), broken.payload(), at(40), true);
        // When
        assertThatThrownBy(() -> apply(appended)).isInstanceOf(RuntimeException.class);
        // Then
        assertThat(states.byKey).isEqualTo(Map.of(NODE, before));
        assertThat(usage(apply(event(Topic.ALLOCATION, EventType.DEVICES_HELD, 41, held("boot-2", "b")))))
                .singleElement()
                .satisfies(closed -> {
                    assertThat(closed.getPod()).isEqualTo("a");
                    assertThat(closed.getGpuMilliseconds()).isEqualTo(41_000);
                });
    }

    @Test
    void writtenStateIsReadAsAnEqualOne() throws Exception {
        apply(snapshot(0, "a", "b"));
        apply(nodeDeleted(10));
        NodeLedger ledger = ledger();
        byte[] json = Codec.toJson(projection.write(NODE, ledger));
        assertThat(projection.read(NODE, Codec.fromJson(json, NodeHoldings.getDefaultInstance())))
                .isEqualTo(ledger);
    }

    @Test
    void changelogIsNoOutput() {
        assertThat(projection.spec().outputs()).containsExactly(Topic.USAGE);
        assertThat(projection.spec().changelog()).isEqualTo(Topic.HOLDINGS);
    }
}
