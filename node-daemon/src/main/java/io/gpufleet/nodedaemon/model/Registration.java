package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.KubeletSocket.Present;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * When to register with the kubelet, made for what kubelets really do: clients are keyed by resource name, and the end
 * of an old stream tears down a newer client. So: exactly once for each kubelet.sock, one Register in flight, and never
 * while a stream is open. A pure machine: told what happened, it says what to do.
 *
 * @param socket what the directory last showed
 * @param streams ListAndWatch streams that are open
 * @param phase where the machine stands
 */
public record Registration(KubeletSocket socket, int streams, Phase phase) {
    /** Time from the answer to Register until the kubelet should have opened its stream. */
    public static final Duration STREAM_EXPECTED = Duration.ofSeconds(2);

    /** Pause after the kubelet closed its connection, so that it has torn down the old client. */
    public static final Duration TEAR_DOWN = Duration.ofMillis(250);

    private static final Duration FOREIGN_CHECK = Duration.ofSeconds(10);
    /** Twice so long a plugin beside ours must be gone: one that only starts anew must not meet the end of our stream. */
    private static final Duration BESIDE_CHECK = Duration.ofSeconds(3);

    private static final Duration DRAIN_REPEAT = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration STABLE = Duration.ofSeconds(10);

    /** Nothing is known yet. */
    public static final Registration INITIAL =
            new Registration(new KubeletSocket.Absent(), 0, new Phase.WaitingForKubelet());

    /** Where the machine stands. */
    public sealed interface Phase {
        /** There is no kubelet.sock. */
        record WaitingForKubelet() implements Phase {}

        /** A Register is in flight. */
        record Registering(Present kubelet, int attempt) implements Phase {}

        /** Register was answered, the stream is to come. */
        record ExpectingStream(Present kubelet, int attempt, long untilNanos) implements Phase {}

        /** The kubelet holds a stream. */
        record Registered(Present kubelet, int attempt, long sinceNanos) implements Phase {}

        /** A stream is open with which no new one may meet, that of an old kubelet for example: it has to end first. */
        record Draining(long repeatNanos) implements Phase {}

        /** Waits before the next Register. */
        record Pausing(int attempt, long untilNanos, String reason) implements Phase {}

        /** Another plugin serves the resource. */
        record Yielding(String plugin, long untilNanos) implements Phase {}

        /**
         * Another plugin came while the kubelet holds our stream, and has the resource now. The stream stays open and
         * shows nothing: a list would replace the other's, and the end of the stream would tear down its client.
         */
        record Beside(Present kubelet, String plugin, boolean missedOnce, long untilNanos) implements Phase {}
    }

    /** What happened. */
    public sealed interface Event {
        /** The directory was looked at. */
        record SocketLooked(KubeletSocket socket) implements Event {}

        /** A ListAndWatch stream was opened. */
        record StreamOpened() implements Event {}

        /** A ListAndWatch stream ended. */
        record StreamEnded() implements Event {}

        /** The kubelet answered Register. */
        record Answered() implements Event {}

        /** Register failed. */
        record Failed(String reason) implements Event {}

        /** A live plugin of somebody else was found, instead of registering or when it was looked for. */
        record ForeignPluginAlive(String plugin) implements Event {}

        /** Nobody else's plugin was found when it was looked for. */
        record ForeignPluginGone() implements Event {}

        /** A plugin of somebody else came or went, or might have. */
        record ForeignMoved() implements Event {}

        /** Time passed. */
        record Tick() implements Event {}
    }

    /** What is to be done. */
    public enum Effect {
        /** See that our socket is served, then call Register; answer with Answered, Failed or ForeignPluginAlive. */
        REGISTER,
        /** End every open stream. */
        END_STREAMS,
        /** Show nothing more on the streams that are open. */
        HUSH,
        /** Look for plugins of somebody else; answer with ForeignPluginAlive or ForeignPluginGone. */
        LOOK_FOR_FOREIGN
    }

    /** The machine afterwards, and what is to be done. */
    public record Step(Registration next, List<Effect> effects) {}

    /** Takes note of an event. */
    public Step on(Event event, long nanos) {
        return switch (event) {
            case Event.SocketLooked(KubeletSocket seen) -> looked(seen, nanos);
            case Event.StreamOpened _ -> new Registration(socket, streams + 1, phase).streamOpened(nanos);
            case Event.StreamEnded _ -> new Registration(socket, Math.max(0, streams - 1), phase).streamEnded(nanos);
            case Event.Answered _ -> answered(nanos);
            case Event.Failed(String reason) -> failed(reason, nanos);
            case Event.ForeignPluginAlive(String plugin) -> foreignAlive(plugin, nanos);
            case Event.ForeignPluginGone _ -> foreignGone(nanos);
            case Event.ForeignMoved _ -> foreignMoved(nanos);
            case Event.Tick _ -> tick(nanos);
        };
    }

    /** When a {@link Event.Tick} is needed, by the monotonic clock. */
    public OptionalLong wakeAtNanos() {
        return switch (phase) {
            case Phase.WaitingForKubelet _, Phase.Registering _, Phase.Registered _ -> OptionalLong.empty();
            case Phase.ExpectingStream expecting -> OptionalLong.of(expecting.untilNanos());
            case Phase.Draining draining -> OptionalLong.of(draining.repeatNanos());
            case Phase.Pausing pausing -> OptionalLong.of(pausing.untilNanos());
            case Phase.Yielding yielding -> OptionalLong.of(yielding.untilNanos());
            case Phase.Beside beside -> OptionalLong.of(beside.untilNanos());
        };
    }

    private Step looked(KubeletSocket seen, long nanos) {
        if (seen.equals(socket)) {
            return stay(phase);
        }
        var now = new Registration(seen, streams, phase);
        return switch (seen) {
            case KubeletSocket.Absent _ ->
                switch (phase) {
                    // What is under way ends by itself: an answer, a failure, the end of the stream.
                    case Phase.Registering _, Phase.Registered _, Phase.Beside _, Phase.Draining _ -> now.stay(phase);
                    case Phase.WaitingForKubelet _, Phase.ExpectingStream _, Phase.Pausing _, Phase.Yielding _ ->
                        now.stay(new Phase.WaitingForKubelet());
                };
            case Present _ ->
                switch (phase) {
                    // One Register in flight: its answer will find another kubelet and go on from there.
                    case Phase.Registering _, Phase.Draining _ -> now.stay(phase);
                    case Phase.WaitingForKubelet _,
                            Phase.ExpectingStream _,
                            Phase.Registered _,
                            Phase.Beside _,
                            Phase.Pausing _,
                            Phase.Yielding _ -> now.begin(0, nanos);
                };
        };
    }

    private Step streamOpened(long nanos) {
        return switch (phase) {
            case Phase.Registering _, Phase.Registered _, Phase.Beside _ -> stay(phase);
            case Phase.ExpectingStream(Present kubelet, int attempt, long _) ->
                stay(new Phase.Registered(kubelet, attempt, nanos));
            case Phase.Draining _ -> new Step(this, List.of(Effect.END_STREAMS));
            case Phase.WaitingForKubelet _ -> held(0, nanos);
            case Phase.Pausing pausing -> held(pausing.attempt(), nanos);
            case Phase.Yielding _ -> held(0, nanos);
        };
    }

    private Step held(int attempt, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(phase);
            case Present kubelet -> stay(new Phase.Registered(kubelet, attempt, nanos));
        };
    }

    private Step streamEnded(long nanos) {
        if (streams > 0) {
            return stay(phase);
        }
        return switch (phase) {
            case Phase.Registered(Present _, int attempt, long since) -> {
                int next = nanos - since >= STABLE.toNanos() ? 0 : attempt + 1;
                yield pause(next, pauseAfter(next), "the kubelet ended the stream", nanos);
            }
            case Phase.Draining _ -> pause(0, TEAR_DOWN, "the old stream has ended", nanos);
            case Phase.Beside beside -> besideEnded(beside, nanos);
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.ExpectingStream _,
                    Phase.Pausing _,
                    Phase.Yielding _ -> stay(phase);
        };
    }

    private Step answered(long nanos) {
        return settled(
                nanos,
                kubelet -> streams > 0
                        ? new Phase.Registered(kubelet.kubelet(), kubelet.attempt(), nanos)
                        : new Phase.ExpectingStream(
                                kubelet.kubelet(), kubelet.attempt(), nanos + STREAM_EXPECTED.toNanos()));
    }

    private Step failed(String reason, long nanos) {
        return settled(
                nanos,
                kubelet -> streams > 0
                        ? new Phase.Registered(kubelet.kubelet(), kubelet.attempt(), nanos)
                        : new Phase.Pausing(
                                kubelet.attempt() + 1,
                                nanos + pauseAfter(kubelet.attempt() + 1).toNanos(),
                                reason));
    }

    private Step foreignAlive(String plugin, long nanos) {
        return switch (phase) {
            case Phase.Registered registered -> leaveTo(registered.kubelet(), plugin, nanos);
            // The kubelet came by itself meanwhile, as it does to a socket in plugins_registry.
            case Phase.Registering registering
            when streams > 0 && registering.kubelet().equals(socket) -> leaveTo(registering.kubelet(), plugin, nanos);
            case Phase.Beside beside -> stay(besideOf(beside.kubelet(), plugin, false, nanos));
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.ExpectingStream _,
                    Phase.Draining _,
                    Phase.Pausing _,
                    Phase.Yielding _ ->
                settled(nanos, _ -> new Phase.Yielding(plugin, nanos + FOREIGN_CHECK.toNanos()));
        };
    }

    private Step leaveTo(Present kubelet, String plugin, long nanos) {
        return new Step(
                new Registration(socket, streams, besideOf(kubelet, plugin, false, nanos)), List.of(Effect.HUSH));
    }

    private static Phase besideOf(Present kubelet, String plugin, boolean missedOnce, long nanos) {
        return new Phase.Beside(kubelet, plugin, missedOnce, nanos + BESIDE_CHECK.toNanos());
    }

    /** The kubelet has nobody for the resource now: our stream is of an older registration, so it ends first. */
    private Step foreignGone(long nanos) {
        if (!(phase instanceof Phase.Beside beside)) {
            return stay(phase);
        }
        return beside.missedOnce()
                ? begin(0, nanos)
                : stay(new Phase.Beside(beside.kubelet(), beside.plugin(), true, beside.untilNanos()));
    }

    private Step besideEnded(Phase.Beside beside, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present now
            when now.equals(beside.kubelet()) ->
                stay(new Phase.Yielding(beside.plugin(), nanos + FOREIGN_CHECK.toNanos()));
            case Present _ -> begin(0, nanos);
        };
    }

    private Step foreignMoved(long nanos) {
        return switch (phase) {
            case Phase.Registered _ -> new Step(this, List.of(Effect.LOOK_FOR_FOREIGN));
            // Its client is torn down by the kubelet first, then it is looked whether anybody is left.
            case Phase.Yielding _ -> pause(0, TEAR_DOWN, "the other plugin moved", nanos);
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.ExpectingStream _,
                    Phase.Draining _,
                    Phase.Pausing _,
                    Phase.Beside _ -> stay(phase);
        };
    }

    /** The Register in flight came to an end; where another kubelet is there by now, that one is next. */
    private Step settled(long nanos, java.util.function.Function<Phase.Registering, Phase> next) {
        if (!(phase instanceof Phase.Registering registering)) {
            return stay(phase);
        }
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present present when present.equals(registering.kubelet()) -> stay(next.apply(registering));
            case Present _ -> begin(0, nanos);
        };
    }

    private Step tick(long nanos) {
        OptionalLong due = wakeAtNanos();
        if (due.isEmpty() || due.getAsLong() - nanos > 0) {
            return stay(phase);
        }
        return switch (phase) {
            case Phase.WaitingForKubelet _, Phase.Registering _, Phase.Registered _ -> stay(phase);
            case Phase.ExpectingStream(Present _, int attempt, long _) ->
                pause(attempt + 1, pauseAfter(attempt + 1), "the kubelet opened no stream after Register", nanos);
            case Phase.Draining _ ->
                new Step(
                        new Registration(socket, streams, new Phase.Draining(nanos + DRAIN_REPEAT.toNanos())),
                        List.of(Effect.END_STREAMS));
            case Phase.Pausing(int attempt, long _, String _) -> begin(attempt, nanos);
            case Phase.Yielding _ -> begin(0, nanos);
            case Phase.Beside(Present kubelet, String plugin, boolean missedOnce, long _) ->
                new Step(
                        new Registration(socket, streams, besideOf(kubelet, plugin, missedOnce, nanos)),
                        List.of(Effect.LOOK_FOR_FOREIGN));
        };
    }

    private Step begin(int attempt, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present kubelet ->
                streams > 0
                        ? new Step(
                                new Registration(socket, streams, new Phase.Draining(nanos + DRAIN_REPEAT.toNanos())),
                                List.of(Effect.END_STREAMS))
                        : new Step(
                                new Registration(socket, streams, new Phase.Registering(kubelet, attempt)),
                                List.of(Effect.REGISTER));
        };
    }

    private Step pause(int attempt, Duration length, String reason, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present _ -> stay(new Phase.Pausing(attempt, nanos + length.toNanos(), reason));
        };
    }

    /** 1 s, 2 s, 4 s … 30 s. */
    private static Duration pauseAfter(int attempt) {
        Duration length = Duration.ofSeconds(1L << Math.clamp(attempt - 1L, 0, 5));
        return length.compareTo(LONGEST_PAUSE) < 0 ? length : LONGEST_PAUSE;
    }

    private Step stay(Phase next) {
        return new Step(new Registration(socket, streams, next), List.of());
    }
}
