package io.gpufleet.nodedaemon.model.registration;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.registration.Registration.Effect;
import io.gpufleet.nodedaemon.model.registration.Registration.Event;
import io.gpufleet.nodedaemon.model.registration.Registration.Phase;
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
    private static final class EventPlayer {
        private Registration machine = Registration.INITIAL;
        private final List<Effect> effects = new ArrayList<>();
        private long nanos;

        private EventPlayer on(Event event) {
            var step = machine.handle(event, nanos);
            machine = step.next();
            effects.addAll(step.effects());
            return this;
        }

        private EventPlayer after(double seconds) {
            nanos += Math.round(seconds * 1e9);
            return on(new Event.Tick());
        }

        private EventPlayer sees(KubeletSocket socket) {
            return on(new Event.SocketObserved(socket));
        }

        private EventPlayer opened() {
            return on(new Event.StreamOpened());
        }

        private EventPlayer ended() {
            return on(new Event.StreamEnded());
        }

        private long registers() {
            return effects.stream().filter(Effect.REGISTER::equals).count();
        }
    }

    @Test
    void changedOptionsRegisterAgainOnceTheStreamHasEnded() {
        EventPlayer player = registered();
        long before = player.registers();

        player.on(new Event.OptionsChanged());
        assertThat(player.effects).endsWith(Effect.END_STREAMS);
        assertThat(player.registers()).isEqualTo(before);

        player.ended().after(1);
        assertThat(player.registers()).isEqualTo(before + 1);

        // While it is not registered, the next registration has them anyway
        player.on(new Event.OptionsChanged());
        assertThat(player.registers()).isEqualTo(before + 1);
    }

    private static EventPlayer registered() {
        return new EventPlayer().sees(FIRST).on(new Event.RegisterSucceeded()).opened();
    }

    @Test
    void nothingHappensWithoutAKubelet() {
        assertThat(new EventPlayer().sees(NONE).after(3600).effects).isEmpty();
    }

    @Test
    void kubeletIsRegisteredWithOnceHoweverOftenItsSocketIsSeen() {
        EventPlayer play = registered().sees(FIRST).sees(FIRST).after(3600);

        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Registered.class);
    }

    @Test
    void streamThatOpensBeforeTheAnswerCounts() {
        EventPlayer play = new EventPlayer()
                .sees(FIRST)
                .opened()
                .on(new Event.RegisterSucceeded())
                .after(60);

        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Registered.class);
    }

    @Test
    void restartedKubeletIsRegisteredWithAtOnce() {
        EventPlayer play = registered().ended().sees(NONE).sees(SECOND);

        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void endedStreamOfTheSameKubeletIsRegisteredAgainAfterASecond() {
        EventPlayer play = registered().after(100).ended();

        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.after(0.9).registers()).isEqualTo(1);
        assertThat(play.after(0.1).registers()).isEqualTo(2);
    }

    @Test
    void streamThatNeverComesIsRegisteredAgain() {
        EventPlayer play = new EventPlayer().sees(FIRST).on(new Event.RegisterSucceeded());

        assertThat(play.after(1.9).registers()).isEqualTo(1);
        assertThat(play.after(0.1).after(1).registers()).isEqualTo(2);
    }

    @Test
    void pausesGrowToHalfAMinute() {
        EventPlayer play = new EventPlayer().sees(FIRST);
        var pauses = new ArrayList<Long>();
        for (int i = 0; i < 8; i++) {
            play.on(new Event.RegisterFailed("refused"));
            pauses.add(Duration.ofNanos(play.machine.wakeAtNanos().orElseThrow() - play.nanos)
                    .toSeconds());
            play.after(pauses.getLast());
        }

        assertThat(pauses).containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L, 30L);
    }

    @Test
    void kubeletThatRestartsWhileChangedOptionsWaitIsRegisteredWithAtOnce() {
        // Given changed options, for which our stream to the kubelet is ending
        EventPlayer play = registered().on(new Event.OptionsChanged());

        // When another kubelet serves before that end
        play.sees(NONE).sees(SECOND).ended();

        // Then there is no pause for the tear-down by a kubelet that is gone
        assertThat(play.machine.phase()).isInstanceOf(Phase.Registering.class);
        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void newKubeletIsRegisteredWithAsSoonAsTheStreamOfTheOldOneHasEnded() {
        // Given a registered plugin whose stream is still open
        EventPlayer play = registered();

        // When a kubelet serves anew
        play.sees(SECOND);

        // Then nobody is left who would tear down a client of the new one
        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.END_STREAMS);
        play.ended();
        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void sameKubeletGetsTimeToTearDownItsOldClient() {
        EventPlayer play = registered().on(new Event.OptionsChanged());

        play.ended().after(0.2);
        assertThat(play.registers()).isEqualTo(1);
        play.after(0.1);
        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void kubeletThatCameDuringARegisterIsNext() {
        EventPlayer play = new EventPlayer().sees(FIRST).sees(SECOND);

        assertThat(play.registers()).isEqualTo(1);
        play.on(new Event.RegisterFailed("connection reset"));
        assertThat(play.registers()).isEqualTo(2);
    }

    @Test
    void foreignPluginDefersRegistrationAndIsCheckedAgain() {
        EventPlayer play = new EventPlayer().sees(FIRST).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));

        assertThat(play.machine.phase()).isInstanceOf(Phase.Deferred.class);
        assertThat(play.after(9).registers()).isEqualTo(1);
        assertThat(play.after(1).registers()).isEqualTo(2);
    }

    @Test
    void registersAtOnceWhenForeignPluginGoes() {
        EventPlayer play = new EventPlayer().sees(FIRST).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));

        play.on(new Event.ForeignPluginChanged());

        assertThat(play.after(0.2).registers()).isEqualTo(1);
        assertThat(play.after(0.1).registers()).isEqualTo(2);
    }

    /** Registered, and then a plugin came that answers. */
    private static EventPlayer superseded() {
        return registered().on(new Event.ForeignPluginChanged()).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));
    }

    @Test
    void registeredDaemonChecksForForeignPluginsAndContinuesWithoutOne() {
        EventPlayer play = registered().on(new Event.ForeignPluginChanged());

        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.CHECK_FOREIGN_PLUGINS);
        assertThat(play.on(new Event.ForeignPluginGone()).after(60).machine.phase())
                .isInstanceOf(Phase.Registered.class);
        assertThat(play.effects).hasSize(2);
    }

    @Test
    void laterForeignPluginKeepsTheResourceAndOurStreamStaysOpen() {
        EventPlayer play = superseded();

        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.CHECK_FOREIGN_PLUGINS, Effect.MUTE_STREAMS);
        for (int i = 0; i < 20; i++) {
            play.after(3).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));
        }
        assertThat(play.effects).doesNotContain(Effect.END_STREAMS);
        assertThat(play.registers()).isEqualTo(1);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Superseded.class);
    }

    @Test
    void streamOpenedByTheKubeletItselfIsMutedToo() {
        EventPlayer play = new EventPlayer().sees(FIRST).opened().on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));

        assertThat(play.effects).containsExactly(Effect.REGISTER, Effect.MUTE_STREAMS);
        assertThat(play.machine.phase()).isInstanceOf(Phase.Superseded.class);
    }

    @Test
    void restartingForeignPluginKeepsTheResource() {
        EventPlayer play = superseded().after(3).on(new Event.ForeignPluginGone());

        play.after(3).on(new Event.ForeignPluginAlive("nvidia-gpu.sock"));
        play.after(3).on(new Event.ForeignPluginGone());

        assertThat(play.effects).doesNotContain(Effect.END_STREAMS);
    }

    @Test
    void registersAgainWhenForeignPluginIsGone() {
        EventPlayer play = superseded().after(3).on(new Event.ForeignPluginGone());

        // When it is missed once more
        play.after(3).on(new Event.ForeignPluginGone());

        // Then our old stream ends first
        assertThat(play.effects).endsWith(Effect.END_STREAMS);
        assertThat(play.ended().after(0.2).registers()).isEqualTo(1);
        assertThat(play.after(0.1).registers()).isEqualTo(2);
    }

    @Test
    void streamEndedForForeignPluginDefersRegistration() {
        EventPlayer play = superseded().ended();

        assertThat(play.machine.phase()).isInstanceOf(Phase.Deferred.class);
        assertThat(play.after(9).registers()).isEqualTo(1);
        assertThat(play.after(1).registers()).isEqualTo(2);
    }

    @Test
    void newKubeletIsRegisteredWithEvenIfSupersededBefore() {
        EventPlayer play = superseded().sees(SECOND);

        assertThat(play.effects).endsWith(Effect.END_STREAMS);
        assertThat(play.ended().registers()).isEqualTo(2);
    }

    @Provide
    Arbitrary<List<Event>> histories() {
        return Arbitraries.<Event>of(
                        new Event.SocketObserved(NONE),
                        new Event.SocketObserved(FIRST),
                        new Event.SocketObserved(SECOND),
                        new Event.StreamOpened(),
                        new Event.StreamEnded(),
                        new Event.RegisterSucceeded(),
                        new Event.RegisterFailed("x"),
                        new Event.ForeignPluginAlive("nvidia-gpu.sock"),
                        new Event.ForeignPluginGone(),
                        new Event.ForeignPluginChanged(),
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
            boolean settles = event instanceof Event.RegisterSucceeded
                    || event instanceof Event.RegisterFailed
                    || event instanceof Event.ForeignPluginAlive;
            var step = machine.handle(event, nanos += 700_000_000L);
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
        var play = new EventPlayer();
        history.forEach(event -> play.after(0.7).on(event));

        // When the world becomes quiet: no stream is left, a kubelet is there, what is in flight is answered
        while (play.machine.streams() > 0) {
            play.ended();
        }
        play.sees(FIRST).on(new Event.RegisterFailed("x"));
        for (int i = 0; i < 100 && !(play.machine.phase() instanceof Phase.Registering); i++) {
            play.after(1);
        }

        assertThat(play.machine.phase()).isInstanceOf(Phase.Registering.class);
    }
}
