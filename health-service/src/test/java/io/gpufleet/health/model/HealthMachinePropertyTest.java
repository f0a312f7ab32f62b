package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.NodeHardware;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class HealthMachinePropertyTest {
    private static final FaultCode HARDWARE = FaultCode.xid(54);
    private static final Instant NOW = NodeScenario.START.plus(Duration.ofHours(1));
    private final HealthMachine machine = new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10));

    @Property
    void appliedEventsGiveTheDecidedState(@ForAll long seed, @ForAll long order) {
        NodeState state = start();
        for (HealthSignal signal : RandomSignals.interleaved(RandomSignals.of(seed), order)) {
            DecisionResult conclusion = machine.decide(state, signal, NOW);
            NodeState replayed = state;
            for (NodeStateChange event : conclusion.events()) {
                replayed = StateReducer.apply(replayed, event);
            }
            assertThat(replayed).isEqualTo(conclusion.state());
            state = conclusion.state();
        }
    }

    @Property
    void verdictIsPublishedExactlyWhenItChanges(@ForAll long seed, @ForAll long order) {
        NodeState state = start();
        for (HealthSignal signal : RandomSignals.interleaved(RandomSignals.of(seed), order)) {
            DecisionResult conclusion = machine.decide(state, signal, NOW);
            boolean news = !Verdict.of(conclusion.state()).equalsIgnoringRevision(Verdict.of(state));
            assertThat(conclusion.verdict().isPresent()).isEqualTo(news);
            boolean firstSeen = state.node().uid().isEmpty()
                    && !conclusion.state().node().uid().isEmpty();
            long next = Math.max(state.revision() + 1, NOW.toEpochMilli());
            assertThat(conclusion.state().revision()).isEqualTo(news || firstSeen ? next : state.revision());
            state = conclusion.state();
        }
    }

    @Property
    void deviceAndNodeAreOutOfServiceExactlyWhileFaultLossOrQuarantineLasts(@ForAll long seed, @ForAll long order) {
        NodeState state = replay(RandomSignals.interleaved(RandomSignals.of(seed), order));

        for (Device device : state.devices().values()) {
            boolean byHand = device.health() instanceof DeviceHealth.Quarantined
                    || device.health() instanceof DeviceHealth.Retired;
            boolean fault = device.episodes().values().stream()
                    .anyMatch(episode -> episode.acts()
                            && TestPolicies.standard()
                                    .rule(episode)
                                    .faultClass()
                                    .withdraws());
            assertThat(device.health().trusted())
                    .isEqualTo(!byHand && !device.lost() && !fault && !state.missing(device));
        }
        boolean marking = Stream.concat(
                        state.episodes().values().stream(),
                        state.devices().values().stream()
                                .filter(device -> !(device.health() instanceof DeviceHealth.Retired))
                                .flatMap(device -> device.episodes().values().stream()))
                .anyMatch(episode -> episode.acts()
                        && TestPolicies.standard().rule(episode).faultClass().taintsNode());
        List<Device> known = state.devices().values().stream()
                .filter(device -> device.listed() || device.missing(state.boot().id()) || state.missing(device))
                .toList();
        boolean nothingLeft = !known.isEmpty()
                && known.stream().noneMatch(device -> device.health().trusted());
        assertThat(state.health().outOfService()).isEqualTo(state.quarantine() != null || marking || nothingLeft);
    }

    @Property(tries = 2000)
    void theOrderBetweenTopicsDoesNotMatter(@ForAll long seed, @ForAll long oneOrder, @ForAll long otherOrder) {
        List<List<HealthSignal>> topics = RandomSignals.of(seed);

        NodeState one = replay(RandomSignals.interleaved(topics, oneOrder));
        NodeState other = replay(RandomSignals.interleaved(topics, otherOrder));

        assertThat(timeless(one)).isEqualTo(timeless(other));
    }

    @Property
    void everythingIsTrustedWithoutOpenFaultAndQuarantine(@ForAll long seed, @ForAll long order) {
        // Given
        List<HealthSignal> told = new ArrayList<>(RandomSignals.interleaved(RandomSignals.of(seed), order));
        told.removeIf(signal -> signal instanceof HealthSignal.CommandIssued || isOfHardware(signal));
        NodeState state = replay(told);

        // When
        var boot = new HealthSignal.DaemonIncarnation("boot-3", 3_000, false);
        var heard = new HealthSignal.EventMetadata("last", NOW, Duration.ZERO);
        var listed = Stream.of("gpu-0", "gpu-1", "gpu-2")
                .map(uuid -> new HealthSignal.AnnouncedDevice(uuid, NodeScenario.H100, false))
                .toList();
        state = machine.decide(state, new HealthSignal.DevicesAnnounced(heard, boot, listed, NodeScenario.KNOWN), NOW)
                .state();

        // Then
        Verdict verdict = Verdict.of(state);
        assertThat(verdict.trusted()).isTrue();
        assertThat(verdict.devices()).isEmpty();
        assertThat(state.devices()).containsOnlyKeys("gpu-0", "gpu-1", "gpu-2");
    }

    /** No boot ends such a fault. */
    private static boolean isOfHardware(HealthSignal signal) {
        return switch (signal) {
            case HealthSignal.FaultObserved observed -> observed.code().equals(HARDWARE);
            case HealthSignal.FaultsOpen open ->
                open.faults().stream().anyMatch(fault -> fault.code().equals(HARDWARE));
            case HealthSignal _ -> false;
        };
    }

    private NodeState replay(List<HealthSignal> signals) {
        NodeState state = start();
        for (HealthSignal signal : signals) {
            state = machine.decide(state, signal, NOW).state();
        }
        return state;
    }

    private static NodeState start() {
        return NodeState.unknown("node-1", NodeScenario.START);
    }

    /** Without the instants and the count of conclusions, which tell of the order of reading. */
    private static NodeState timeless(NodeState state) {
        var devices = new TreeMap<String, Device>();
        state.devices().forEach((uuid, device) -> {
            // The model of what is not there was told by an announcement that one order drops as of a former boot.
            Device named = device.listed()
                    ? device
                    : device.withAnnouncement(new Device.Identity("?", "", ""), false, device.lost());
            // A replaced device is remembered with its boots, unless a later fault of it is read first.
            RepairHistory history = device.listed() ? timeless(device.history()) : RepairHistory.NONE;
            devices.put(
                    uuid,
                    named.with(timeless(device.health()))
                            .with(device.faults().forgotten().with(history)));
        });
        NodeHealth health = state.health();
        NodeReference node = state.node();
        NodeState.Boot boot = state.boot();
        return state.with(new NodeHardware(devices, new TreeMap<>()))
                .withBoot(new NodeState.Boot(boot.id(), boot.epoch(), NodeScenario.START, boot.gpus(), boot.formers()))
                .withNode(new NodeReference(
                        node.name(),
                        node.uid(),
                        node.goneSince() == null ? null : NodeScenario.START,
                        node.placement(),
                        node.presence()))
                .withHealth(new NodeHealth(
                        health.state(),
                        NodeScenario.START,
                        health.reason(),
                        health.recommendedAction(),
                        health.drain(),
                        health.nodeAction(),
                        health.withdrawsEveryDevice()))
                .with(NodeState.Revisions.NONE)
                .withPolicyTainted(Instant.EPOCH);
    }

    private static RepairHistory timeless(RepairHistory history) {
        var attempts = new HashMap<RecommendedAction, RepairHistory.Attempts>();
        history.attempts()
                .forEach((action, made) ->
                        attempts.put(action, new RepairHistory.Attempts(made.count(), NodeScenario.START)));
        return new RepairHistory(attempts, Instant.EPOCH);
    }

    private static DeviceHealth timeless(DeviceHealth health) {
        return switch (health) {
            case DeviceHealth.Healthy _ -> new DeviceHealth.Healthy(NodeScenario.START);
            case DeviceHealth.Suspect suspect -> new DeviceHealth.Suspect(NodeScenario.START, suspect.cause());
            case DeviceHealth.Unhealthy unhealthy -> new DeviceHealth.Unhealthy(NodeScenario.START, unhealthy.cause());
            case DeviceHealth.Recovering recovering ->
                new DeviceHealth.Recovering(NodeScenario.START, recovering.reason());
            case DeviceHealth.Quarantined quarantined -> quarantined;
            case DeviceHealth.Retired retired -> retired;
            case DeviceHealth.Lost _ -> new DeviceHealth.Lost(NodeScenario.START);
        };
    }
}
