package io.gpufleet.nodedaemon.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Registration.Effect;
import io.gpufleet.nodedaemon.model.Registration.Event;
import io.gpufleet.nodedaemon.model.Registration.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class RegistrationTest {
    private static final KubeletSocket FIRST = new KubeletSocket.Present(1, 10, 1000);
    private static final KubeletSocket SECOND = new KubeletSocket.Present(1, 11, 2000);
    private static final KubeletSocket NONE = new KubeletSocket.Absent();

    /** Plays events into a machine and remembers what it asked for. */
    private static final class Play {
        private Registration machine = Registration.INITIAL;
        private final List<Effect> effects = new ArrayList<>();
        private long nanos;

        private Play on(Event event) {
            var step = machine.on(event, nanos);
            machine = step.next();
            effects.addAll(step.effects());
            return this;
        }

        private Play after(double seconds) {
            nanos += Math.round(seconds * 1e9);
            return on(new Event.Tick());
        }

        private Play sees(KubeletSocket socket) {
            return on(new Event.SocketLooked(socket));
        }

        private Play opened() {
            return on(new Event.StreamOpened());
        }

        private Play ended() {
            return on(new Event.StreamEnded());
        }

        private long registers() {
            return effects.stream().filter(Effect.REGISTER::equals).count();
        }
    }

    private static Play registered() {
        return new Play().sees(FIRST).on(new Event.Answered()).opened();
    }

    @Test
    void nothingHappensWithoutAKubelet() {
        assertThat(new Play().sees(NONE).after(3600).effects).isEmpty();
    }

    @Test
    void kubeletIsRegisteredWithOnceHoweverOftenItsSocketIsSeen() {
        Play play = registered().sees(FIRST).sees(FIRST).after(3600);

        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Registered.class);
    }

    @Test
    void streamThatOpensBeforeTheAnswerCounts() {
        Play play = new Play().sees(FIRST).opened().on(new Event.Answered()).after(60);

        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Registered.class);
    }

    @Test
    void restartedKubeletIsRegisteredWithAtOnce() {
        Play play = registered().ended().sees(NONE).sees(SECOND);

        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void endedStreamOfTheSameKubeletIsRegisteredAgainAfterASecond() {
        Play play = registered().after(100).ended();

        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.after(0.9).registers()).isEqualTo(1);
        assertThat(play.after(0.1).registers()).isEqualTo(2);
    }

    @Test
    void streamThatNeverComesIsRegisteredAgain() {
        Play play = new Play().sees(FIRST).on(new Event.Answered());

        assertThat(play.after(1.9).registers()).isEqualTo(1);
        assertThat(play.after(0.1).after(1).registers()).isEqualTo(2);
    }

    @Test
    void pausesGrowToHalfAMinute() {
        Play play = new Play().sees(FIRST);
        var pauses = new ArrayList<Long>();
        for (int i = 0; i < 8; i++) {
            play.on(new Event.Failed("refused"));
            pauses.add(Duration.ofNanos(play.machine.wakeAtNanos().orElseThrow() - play.nanos)
                    .toSeconds());
            play.after(pauses.getLast());
        }

        assertThat(pauses).containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L, 30L);
    }

    @Test
    void newKubeletBesideAnOpenStreamWaitsUntilTheStreamIsTornDown() {
        // Given a registered plugin whose stream is still open
        Play play = registered();

        // When a kubelet serves anew
        play.sees(SECOND);

        // Then the stream is ended, and only a while after its end is it registered again
        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.END_STREAMS);
        play.ended().after(0.2);
        assertThat(play.registers()).isEqualTo(1);
        play.after(0.1);
        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void kubeletThatCameDuringARegisterIsNext() {
        Play play = new Play().sees(FIRST).sees(SECOND);

        assertThat(play.registers()).isEqualTo(1);
        play.on(new Event.Failed("connection reset"));
        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void foreignPluginIsLeftInPeaceAndLookedForAgain() {
        Play play = new Play().sees(FIRST).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));

        assertThat(play.machine.phase()).isInstanceOf(Phase.Yielding.class);
        assertThat(play.after(9).registers()).isEqualTo(1);
        assertThat(play.after(1).registers()).isEqualTo(2);
    }

    @Test
    void foreignPluginThatGoesIsFollowedAtOnce() {
        Play play = new Play().sees(FIRST).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));

        play.on(new Event.ForeignMoved());

        assertThat(play.after(0.2).registers()).isEqualTo(1);
        assertThat(play.after(0.1).registers()).isEqualTo(2);
    }

    /** Registered, and then a plugin came that answers. */
    private static Play beside() {
        return registered().on(new Event.ForeignMoved()).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));
    }

    @Test
    void whoIsRegisteredLooksWhenAPluginMayHaveComeAndGoesOnWhereNoneHas() {
        Play play = registered().on(new Event.ForeignMoved());

        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.LOOK_FOR_FOREIGN);
        assertThat(play.on(new Event.ForeignPluginGone()).after(60).machine.phase())
                .isInstanceOf(Phase.Registered.class);
        assertThat(play.effects).hasSize(2);
    }

    @Test
    void pluginThatComesLaterIsLeftTheResourceAndOurStreamIsNotEnded() {
        Play play = beside();

        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.LOOK_FOR_FOREIGN, Effect.HUSH);
        for (int i = 0; i < 20; i++) {
            play.after(3).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));
        }
        assertThat(play.effects).doesNotContain(Effect.END_STREAMS);
        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Beside.class);
    }

    @Test
    void kubeletThatCameByItselfIsShownNothingEither() {
        Play play = new Play().sees(FIRST).opened().on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));

        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.HUSH);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Beside.class);
    }

    @Test
    void pluginThatOnlyStartsAnewIsStillLeftTheResource() {
        Play play = beside().after(3).on(new Event.ForeignPluginGone());

        play.after(3).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));
        play.after(3).on(new Event.ForeignPluginGone());

        assertThat(play.effects).doesNotContain(Effect.END_STREAMS);
    }

    @Test
    void pluginThatWentForGoodIsFollowedByANewRegistration() {
        Play play = beside().after(3).on(new Event.ForeignPluginGone());

        // When it is missed once more
        play.after(3).on(new Event.ForeignPluginGone());

        // Then our old stream ends first
        assertThat(play.effects).endsWith(Effect.END_STREAMS);
        assertThat(play.ended().after(0.2).registers()).isEqualTo(1);
        assertThat(play.after(0.1).registers()).isEqualTo(2);
    }

    @Test
    void whoseStreamTheKubeletEndsForAnotherPluginDoesNotFight() {
        Play play = beside().ended();

        assertThat(play.machine.phase()).isInstanceOf(Phase.Yielding.class);
        assertThat(play.after(9).registers()).isEqualTo(1);
        assertThat(play.after(1).registers()).isEqualTo(2);
    }

    @Test
    void newKubeletIsAskedWhetherOrNotAnotherPluginWasBeside() {
        Play play = beside().sees(SECOND);

        assertThat(play.effects).endsWith(Effect.END_STREAMS);
        assertThat(play.ended().after(0.3).registers()).isEqualTo(2);
    }

    @Provide
    Arbitrary<List<Event>> histories() {
        return Arbitraries.<Event>of(
                        new Event.SocketLooked(NONE),
                        new Event.SocketLooked(FIRST),
                        new Event.SocketLooked(SECOND),
                        new Event.StreamOpened(),
                        new Event.StreamEnded(),
                        new Event.Answered(),
                        new Event.Failed("x"),
                        new Event.ForeignPluginAlive("nvidia-gpu.sock"),
                        new Event.ForeignPluginGone(),
                        new Event.ForeignMoved(),
                        new Event.Tick())
                .list()
                .ofMaxSize(60);
    }

    @Property(tries = 2000)
    void neverRegistersWhileAStreamIsOpenNorTwiceAtOnce(@ForAll("histories") List<Event> history) {
        var machine = Registration.INITIAL;
        long nanos = 0;
        for (Event event : history) {
            boolean inFlight = machine.phase() instanceof Phase.Registering;
            boolean settles = event instanceof Event.Answered
                    || event instanceof Event.Failed
                    || event instanceof Event.ForeignPluginAlive;
            var step = machine.on(event, nanos += 700_000_000L);
            Map<Effect, Integer> counts = new EnumMap<>(Effect.class);
            step.effects().forEach(effect -> counts.merge(effect, 1, Integer::sum));
            if (counts.containsKey(Effect.REGISTER)) {
                assertThat(counts).containsEntry(Effect.REGISTER, 1);
                assertThat(step.next().streams()).isZero();
                assertThat(!inFlight || settles).isTrue();
                assertThat(step.next().phase()).isInstanceOf(Phase.Registering.class);
            }
            machine = step.next();
        }
    }

    @Property(tries = 1000)
    void alwaysRegistersInTheEndWhereAKubeletIsThere(@ForAll("histories") List<Event> history) {
        var play = new Play();
        history.forEach(event -> play.after(0.7).on(event));

        // When the world becomes quiet: no stream is left, a kubelet is there, what is in flight is answered
        while (play.machine.streams() > 0) {
            play.ended();
        }
        play.sees(FIRST).on(new Event.Failed("x"));
        for (int i = 0; i < 100 && !(play.machine.phase() instanceof Phase.Registering); i++) {
            play.after(1);
        }

        assertThat(play.machine.phase()).isInstanceOf(Phase.Registering.class);
    }
}
