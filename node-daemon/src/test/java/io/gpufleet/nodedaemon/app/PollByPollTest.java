package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static io.gpufleet.nodedaemon.model.SomeVitals.well;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Conditions.Fabric;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What polls find, one by one, on a node of one GPU: most of it is for the centre to judge. */
class PollByPollTest {
    static Stream<Arguments> whatPollsFind() {
        return Stream.of(
                Arguments.of(Kind.ROW_REMAP, well(0).remap(true, false, false)),
                Arguments.of(Kind.ROW_REMAP, well(0).remap(false, true, false)),
                Arguments.of(Kind.ROW_REMAP, well(0).remap(false, false, true)),
                Arguments.of(Kind.ECC_UNCORRECTABLE, well(0).uncorrectable(1)),
                Arguments.of(Kind.NVLINK, well(0).linksDown(1)),
                Arguments.of(Kind.NVLINK, well(0).linkErrors(1)),
                Arguments.of(Kind.PCIE, well(0).link(5, 8).load(90)),
                Arguments.of(Kind.PCIE, well(0).replays(new Known<>(1000L))),
                Arguments.of(Kind.THROTTLE, well(0).clockReasons(new Known<>(0x8L))),
                Arguments.of(Kind.THROTTLE, well(0).clockReasons(new Known<>(0x48L))),
                Arguments.of(Kind.THROTTLE, well(0).clockReasons(new Known<>(0x88L))),
                Arguments.of(Kind.INFOROM, well(0).infoRom(false)),
                Arguments.of(Kind.POWER_UNREADABLE, well(0).powerReadable(false)),
                Arguments.of(Kind.FABRIC, well(0).fabric(new Known<>(Fabric.FAILED))),
                Arguments.of(Kind.FABRIC, well(0).fabric(new Known<>(Fabric.IN_PROGRESS))));
    }

    @ParameterizedTest
    @MethodSource("whatPollsFind")
    void isToldOnceTakesNoGpuAwayAndItsEndIsToldToo(Kind kind, SomeVitals found) {
        var node = new NodeInHand(seen(1)).polls(well(0));

        // When it lasts for longer than a fabric may take
        for (int i = 0; i < 36; i++) {
            node.after(10).polls(found);
            assertThat(node.healthy()).containsExactly(uuid(0));
        }

        // Then
        assertThat(node.told(Fact.FaultObserved.class))
                .singleElement()
                .matches(fact -> fact.fault().key().fault().equals(new FaultCode.Plain(kind)));

        // When it is over, and stays so
        for (int i = 0; i < 40; i++) {
            node.after(10).polls(well(0));
        }
        assertThat(node.open()).isEmpty();
        assertThat(node.told(Fact.FaultCleared.class)).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("whatComesAndGoesByItself")
    void whatComesAndGoesByItselfIsNoFault(SomeVitals found, int polls) {
        var node = new NodeInHand(seen(1), PluginSettings.STANDARD, Duration.ofSeconds(10));

        for (int i = 0; i < polls; i++) {
            node.polls(found).after(10);
        }
        node.polls(well(0));

        assertThat(node.told(Fact.FaultObserved.class)).isEmpty();
        assertThat(node.healthy()).containsExactly(uuid(0));
    }

    static Stream<Arguments> whatComesAndGoesByItself() {
        return Stream.of(
                // NVLinks are trained, the fabric manager comes up.
                Arguments.of(well(0).linksDown(18).fabric(new Known<>(Fabric.NOT_STARTED)), 28),
                Arguments.of(well(0).linksDown(18).fabric(new Known<>(Fabric.IN_PROGRESS)), 28),
                Arguments.of(well(0).linksDown(18), 28),
                // One moment, and a second one, of brake, heat, slow link or silent sensor.
                Arguments.of(well(0).clockReasons(new Known<>(0x88L)), 1),
                Arguments.of(well(0).clockReasons(new Known<>(0x88L)), 2),
                Arguments.of(well(0).clockReasons(new Known<>(0x48L)), 2),
                Arguments.of(well(0).link(3, 16).load(90), 2),
                Arguments.of(well(0).powerReadable(false), 2),
                // An idle GPU saves power.
                Arguments.of(well(0).link(1, 16).load(0).clockReasons(new Known<>(0x1L)), 100));
    }

    @Test
    void imexDomainThatIsIdleForDaysIsToldOnceAndTakesNoGpuAway() {
        var node = new NodeInHand(seen(1));

        for (int hour = 0; hour < 48; hour++) {
            node.polls(well(0).asks(RecoveryAction.RECOVER_IMEX_DOMAIN)).after(3600);
            assertThat(node.healthy()).containsExactly(uuid(0));
        }

        assertThat(node.told(Fact.FaultObserved.class)).hasSize(1);
    }
}
