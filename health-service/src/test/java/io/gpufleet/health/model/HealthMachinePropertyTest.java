package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class HealthMachinePropertyTest {
    private static final Instant NOW = Story.START.plus(Duration.ofHours(1));
    private final HealthMachine machine = new HealthMachine(Policies.standard(), Duration.ofMinutes(10));

    @Property
    void theStateIsWhatItsEventsMakeOfIt(@ForAll long tale, @ForAll long order) {
        NodeState state = start();
        for (HealthSignal signal : Tale.interleaved(Tale.of(tale), order)) {
            Conclusion conclusion = machine.decide(state, signal, NOW);
            NodeState replayed = state;
            for (HealthEvent event : conclusion.events()) {
                replayed = Evolution.apply(replayed, event);
            }
            assertThat(replayed).isEqualTo(conclusion.state());
            state = conclusion.state();
        }
    }

    @Property
    void aVerdictIsPublishedWhenItSaysSomethingNewAndNotOtherwise(@ForAll long tale, @ForAll long order) {
        NodeState state = start();
        for (HealthSignal signal : Tale.interleaved(Tale.of(tale), order)) {
            Conclusion conclusion = machine.decide(state, signal, NOW);
            boolean news = !Verdict.of(conclusion.state()).saysAs(Verdict.of(state));
            assertThat(conclusion.verdict().isPresent()).isEqualTo(news);
            assertThat(conclusion.state().revision()).isEqualTo(state.revision() + (news ? 1 : 0));
            state = conclusion.state();
        }
    }

    @Property
    void deviceAndNodeAreOutExactlyWhenSomethingSpeaksAgainstThem(@ForAll long tale, @ForAll long order) {
        NodeState state = read(Tale.interleaved(Tale.of(tale), order));

        for (Device device : state.devices().values()) {
            boolean byHand = device.health() instanceof DeviceHealth.Quarantined
                    || device.health() instanceof DeviceHealth.Retired;
            boolean fault = device.episodes().values().stream()
                    .anyMatch(episode -> episode.acts()
                            && Policies.standard().rule(episode).effect().withdraws());
            assertThat(device.health().trusted()).isEqualTo(!byHand && !device.lost() && !fault);
        }
        boolean marking = state.allEpisodes()
                .anyMatch(episode -> episode.acts()
                        && Policies.standard().rule(episode).effect().marksNode());
        List<Device> listed =
                state.devices().values().stream().filter(Device::listed).toList();
        boolean nothingLeft = !listed.isEmpty()
                && listed.stream().noneMatch(device -> device.health().trusted());
        assertThat(state.standing().out()).isEqualTo(state.quarantine() != null || marking || nothingLeft);
    }

    @Property(tries = 2000)
    void theOrderBetweenTopicsDoesNotMatter(@ForAll long tale, @ForAll long oneOrder, @ForAll long otherOrder) {
        List<List<HealthSignal>> topics = Tale.of(tale);

        NodeState one = read(Tale.interleaved(topics, oneOrder));
        NodeState other = read(Tale.interleaved(topics, otherOrder));

        assertThat(timeless(one)).isEqualTo(timeless(other));
    }

    @Property
    void everythingIsTrustedOnceNothingIsOpenAndNoHandIsOnIt(@ForAll long tale, @ForAll long order) {
        // Given
        List<HealthSignal> told = new ArrayList<>(Tale.interleaved(Tale.of(tale), order));
        told.removeIf(signal -> signal instanceof HealthSignal.OperatorSpoke);
        NodeState state = read(told);

        // When
        var boot = new HealthSignal.Speaker("boot-3", 3_000, false);
        var heard = new HealthSignal.Heard("last", NOW, Duration.ZERO);
        var listed = List.of(new HealthSignal.ListedDevice("gpu-0", "H100", false));
        state = machine.decide(state, new HealthSignal.DevicesAnnounced(heard, boot, listed), NOW)
                .state();

        // Then
        Verdict verdict = Verdict.of(state);
        assertThat(verdict.trusted()).isTrue();
        assertThat(verdict.devices()).isEmpty();
        assertThat(state.devices()).containsOnlyKeys("gpu-0");
    }

    private NodeState read(List<HealthSignal> signals) {
        NodeState state = start();
        for (HealthSignal signal : signals) {
            state = machine.decide(state, signal, NOW).state();
        }
        return state;
    }

    private static NodeState start() {
        return NodeState.unknown("node-1", Story.START);
    }

    /** Without the instants and the count of conclusions, which tell of the order of reading. */
    private static NodeState timeless(NodeState state) {
        var devices = new TreeMap<String, Device>();
        state.devices().forEach((uuid, device) -> {
            // The model of what is not there was told by an announcement that one order drops as of a former boot.
            Device named = device.listed() ? device : device.heardOf("?", false, false);
            devices.put(uuid, named.with(timeless(device.health())));
        });
        NodeStanding standing = state.standing();
        return new NodeState(
                state.node(),
                state.boot(),
                state.nodeUid(),
                devices,
                state.episodes(),
                new NodeStanding(standing.state(), Story.START, standing.reason(), standing.step()),
                state.quarantine(),
                state.hand(),
                0);
    }

    private static DeviceHealth timeless(DeviceHealth health) {
        return switch (health) {
            case DeviceHealth.Healthy _ -> new DeviceHealth.Healthy(Story.START);
            case DeviceHealth.Suspect suspect -> new DeviceHealth.Suspect(Story.START, suspect.cause());
            case DeviceHealth.Unhealthy unhealthy -> new DeviceHealth.Unhealthy(Story.START, unhealthy.cause());
            case DeviceHealth.Recovering recovering -> new DeviceHealth.Recovering(Story.START, recovering.reason());
            case DeviceHealth.Quarantined quarantined -> quarantined;
            case DeviceHealth.Retired retired -> retired;
            case DeviceHealth.Lost _ -> new DeviceHealth.Lost(Story.START);
        };
    }
}
