package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every transition of the presence, and the names of the states. */
class PresenceTest {
    private static final Instant LATER = T0.plusSeconds(1);

    static Stream<Arguments> transitions() {
        Presence present = new Presence.Present(T0);
        Presence departed = new Presence.Departed(T0);
        Presence lost = new Presence.Lost(T0);
        BiFunction<Presence, Instant, Presence> announcement = Presence::onAnnouncement;
        BiFunction<Presence, Instant, Presence> heartbeat = Presence::onHeartbeat;
        BiFunction<Presence, Instant, Presence> departure = Presence::onDeparture;
        return Stream.of(
                Arguments.of(present, announcement, present),
                Arguments.of(present, heartbeat, present),
                Arguments.of(present, departure, new Presence.Departed(LATER)),
                Arguments.of(departed, announcement, new Presence.Present(LATER)),
                Arguments.of(departed, heartbeat, departed),
                Arguments.of(departed, departure, departed),
                Arguments.of(lost, announcement, new Presence.Present(LATER)),
                Arguments.of(lost, heartbeat, new Presence.Present(LATER)),
                Arguments.of(lost, departure, new Presence.Departed(LATER)));
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void transitionsAreThoseOfTheDiagram(
            Presence from, BiFunction<Presence, Instant, Presence> transition, Presence to) {
        assertThat(transition.apply(from, LATER)).isEqualTo(to);
    }

    @Test
    void onlyPresentNodeBecomesLost() {
        assertThat(new Presence.Present(T0).toLost(LATER)).isEqualTo(new Presence.Lost(LATER));
        Map<String, Presence> byName = Map.of(
                "present",
                new Presence.Present(T0),
                "departed",
                new Presence.Departed(T0),
                "lost",
                new Presence.Lost(T0));
        byName.forEach((name, presence) -> assertThat(
                        List.of(presence.stateName(), presence.since().toString()))
                .isEqualTo(List.of(name, T0.toString())));
    }
}
