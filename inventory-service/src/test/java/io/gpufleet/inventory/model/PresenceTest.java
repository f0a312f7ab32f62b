package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.Machines.T0;
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

/** Every transition of the presence machine, and what the states are called. */
class PresenceTest {
    private static final Instant LATER = T0.plusSeconds(1);

    static Stream<Arguments> transitions() {
        Presence present = new Presence.Present(T0);
        Presence departed = new Presence.Departed(T0);
        Presence lost = new Presence.Lost(T0);
        BiFunction<Presence, Instant, Presence> announced = Presence::announced;
        BiFunction<Presence, Instant, Presence> heard = Presence::heard;
        BiFunction<Presence, Instant, Presence> departs = Presence::departs;
        return Stream.of(
                Arguments.of(present, announced, present),
                Arguments.of(present, heard, present),
                Arguments.of(present, departs, new Presence.Departed(LATER)),
                Arguments.of(departed, announced, new Presence.Present(LATER)),
                Arguments.of(departed, heard, departed),
                Arguments.of(departed, departs, departed),
                Arguments.of(lost, announced, new Presence.Present(LATER)),
                Arguments.of(lost, heard, new Presence.Present(LATER)),
                Arguments.of(lost, departs, new Presence.Departed(LATER)));
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void eachStateIsLeftOnlyAsDrawn(Presence from, BiFunction<Presence, Instant, Presence> transition, Presence to) {
        assertThat(transition.apply(from, LATER)).isEqualTo(to);
    }

    @Test
    void onlyAPresentNodeFallsSilent() {
        assertThat(new Presence.Present(T0).fallsSilent(LATER)).isEqualTo(new Presence.Lost(LATER));
        Map<String, Presence> words = Map.of(
                "present",
                new Presence.Present(T0),
                "departed",
                new Presence.Departed(T0),
                "lost",
                new Presence.Lost(T0));
        words.forEach((word, presence) -> assertThat(
                        List.of(presence.word(), presence.since().toString()))
                .isEqualTo(List.of(word, T0.toString())));
    }
}
