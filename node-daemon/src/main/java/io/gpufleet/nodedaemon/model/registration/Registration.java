package io.gpufleet.nodedaemon.model.registration;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket.Present;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * State machine that decides when to register one resource with the kubelet. Kubelets key their clients by resource name, and
 * the end of an old stream tears down a newer client. So it registers exactly once for each kubelet.sock, with one Register in
 * flight, and never while a stream is open. Pure: an event returns the next state and the actions to take.
 *
 * @param socket as last observed in the directory
 * @param streams ListAndWatch streams that are open
 * @param phase current phase
 */
public record Registration(KubeletSocket socket, int streams, Phase phase) {
    /** Time from the answer to Register until the kubelet should have opened its stream. */
    public static final Duration STREAM_TIMEOUT = Duration.ofSeconds(2);

    /** Pause after the end of a stream, in which the same kubelet tears down its old client. */
    public static final Duration TEARDOWN_DELAY = Duration.ofMillis(250);

    private static final Duration FOREIGN_CHECK = Duration.ofSeconds(10);
    /**
     * A foreign plugin must be absent for twice this time: one that only restarts must not be torn down by the end of our stream.
     */
    private static final Duration SUPERSEDED_CHECK = Duration.ofSeconds(3);

    private static final Duration DRAIN_REPEAT = Duration.ofSeconds(5);
    private static final Duration MAX_BACKOFF = Duration.ofSeconds(30);
    private static final Duration STABLE = Duration.ofSeconds(10);

    /** Returns the initial state. */
    public static final Registration INITIAL =
            new Registration(new KubeletSocket.Absent(), 0, new Phase.WaitingForKubelet());

    /** Phase of the registration. */
    public sealed interface Phase {
        /** No kubelet.sock exists. */
        record WaitingForKubelet() implements Phase {}

        /** A Register is in flight. */
        record Registering(Present kubelet, int attempt) implements Phase {}

        /** Register succeeded, the kubelet has not opened its stream yet. */
        record AwaitingStream(Present kubelet, int attempt, long untilNanos) implements Phase {}

        /** The kubelet has an open stream. */
        record Registered(Present kubelet, int attempt, long sinceNanos) implements Phase {}

        /**
         * An open stream has to end before the next Register.
         *
         * @param sameKubelet false for a stream of an earlier kubelet: a kubelet creates its socket once in its life, and
         *     one that is gone tears down no client of the next
         */
        record Draining(boolean sameKubelet, long repeatNanos) implements Phase {}

        /** Waits before the next Register. */
        record BackingOff(int attempt, long untilNanos, String reason) implements Phase {}

        /** Another plugin serves the resource. */
        record Deferred(String plugin, long untilNanos) implements Phase {}

        /**
         * Another plugin registered the resource while the kubelet has our stream open. The stream stays open and sends
         * nothing: a list would replace the other plugin's, and the end of the stream would tear down its client.
         */
        record Superseded(Present kubelet, String plugin, boolean missedOnce, long untilNanos) implements Phase {}
    }

    /** Event of the machine. */
    public sealed interface Event {
        /** The directory was read. */
        record SocketObserved(KubeletSocket socket) implements Event {}

        /** A ListAndWatch stream was opened. */
        record StreamOpened() implements Event {}

        /** A ListAndWatch stream ended. */
        record StreamEnded() implements Event {}

        /** The kubelet answered Register. */
        record RegisterSucceeded() implements Event {}

        /** Register failed. */
        record RegisterFailed(String reason) implements Event {}

        /** A live foreign plugin was found, instead of registering or by a search. */
        record ForeignPluginAlive(String plugin) implements Event {}

        /** A search found no foreign plugin. */
        record ForeignPluginGone() implements Event {}

        /** A foreign plugin may have started or ended. */
        record ForeignPluginChanged() implements Event {}

        /** The options changed that the kubelet reads when a plugin registers. */
        record OptionsChanged() implements Event {}

        /** Time passed. */
        record Tick() implements Event {}
    }

    /** Action of the machine. */
    public enum Effect {
        /** Ensure that our socket is served, then call Register; report RegisterSucceeded, RegisterFailed or ForeignPluginAlive. */
        REGISTER,
        /** End every open stream. */
        END_STREAMS,
        /** Send no further list on the open streams. */
        MUTE_STREAMS,
        /** Search for foreign plugins; report ForeignPluginAlive or ForeignPluginGone. */
        CHECK_FOREIGN_PLUGINS
    }

    /** The next state, and the actions to take. */
    public record Step(Registration next, List<Effect> effects) {}

    /** Applies an event. */
    public Step handle(Event event, long nanos) {
        return switch (event) {
            case Event.SocketObserved(KubeletSocket seen) -> socketObserved(seen, nanos);
            case Event.StreamOpened _ -> new Registration(socket, streams + 1, phase).streamOpened(nanos);
            case Event.StreamEnded _ -> new Registration(socket, Math.max(0, streams - 1), phase).streamEnded(nanos);
            case Event.RegisterSucceeded _ -> registerSucceeded(nanos);
            case Event.RegisterFailed(String reason) -> registerFailed(reason, nanos);
            case Event.ForeignPluginAlive(String plugin) -> foreignPluginAlive(plugin, nanos);
            case Event.ForeignPluginGone _ -> foreignPluginGone(nanos);
            case Event.ForeignPluginChanged _ -> foreignPluginChanged(nanos);
            case Event.OptionsChanged _ -> optionsChanged(nanos);
            case Event.Tick _ -> tick(nanos);
        };
    }

    /** When a {@link NvmlEvent.Tick} is needed, by the monotonic clock. */
    public OptionalLong wakeAtNanos() {
        return switch (phase) {
            case Phase.WaitingForKubelet _, Phase.Registering _, Phase.Registered _ -> OptionalLong.empty();
            case Phase.AwaitingStream awaiting -> OptionalLong.of(awaiting.untilNanos());
            case Phase.Draining draining -> OptionalLong.of(draining.repeatNanos());
            case Phase.BackingOff backingOff -> OptionalLong.of(backingOff.untilNanos());
            case Phase.Deferred deferred -> OptionalLong.of(deferred.untilNanos());
            case Phase.Superseded beside -> OptionalLong.of(beside.untilNanos());
        };
    }

    private Step socketObserved(KubeletSocket seen, long nanos) {
        if (seen.equals(socket)) {
            return stay(phase);
        }
        var now = new Registration(seen, streams, phase);
        return switch (seen) {
            case KubeletSocket.Absent _ ->
                switch (phase) {
                    // The operation in flight ends by itself: with success, failure or the end of the stream.
                    case Phase.Registering _, Phase.Registered _, Phase.Superseded _, Phase.Draining _ ->
                        now.stay(phase);
                    case Phase.WaitingForKubelet _, Phase.AwaitingStream _, Phase.BackingOff _, Phase.Deferred _ ->
                        now.stay(new Phase.WaitingForKubelet());
                };
            case Present _ ->
                switch (phase) {
                    // One Register is in flight: its result will find the other kubelet and continue from there.
                    case Phase.Registering _ -> now.stay(phase);
                    case Phase.Draining draining -> now.stay(new Phase.Draining(false, draining.repeatNanos()));
                    case Phase.WaitingForKubelet _,
                            Phase.AwaitingStream _,
                            Phase.Registered _,
                            Phase.Superseded _,
                            Phase.BackingOff _,
                            Phase.Deferred _ -> now.startRegister(0, false, nanos);
                };
        };
    }

    private Step streamOpened(long nanos) {
        return switch (phase) {
            case Phase.Registering _, Phase.Registered _, Phase.Superseded _ -> stay(phase);
            case Phase.AwaitingStream(Present kubelet, int attempt, long _) ->
                stay(new Phase.Registered(kubelet, attempt, nanos));
            case Phase.Draining _ -> new Step(this, List.of(Effect.END_STREAMS));
            case Phase.WaitingForKubelet _ -> streamHeld(0, nanos);
            case Phase.BackingOff backingOff -> streamHeld(backingOff.attempt(), nanos);
            case Phase.Deferred _ -> streamHeld(0, nanos);
        };
    }

    private Step streamHeld(int attempt, long nanos) {
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
                yield backOff(next, backoffAfter(next), "the kubelet ended the stream", nanos);
            }
            case Phase.Draining(boolean sameKubelet, long _) ->
                sameKubelet
                        ? backOff(0, TEARDOWN_DELAY, "the old stream has ended", nanos)
                        : startRegister(0, false, nanos);
            case Phase.Superseded beside -> supersededStreamEnded(beside, nanos);
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.AwaitingStream _,
                    Phase.BackingOff _,
                    Phase.Deferred _ -> stay(phase);
        };
    }

    private Step registerSucceeded(long nanos) {
        return registerCompleted(
                nanos,
                kubelet -> streams > 0
                        ? new Phase.Registered(kubelet.kubelet(), kubelet.attempt(), nanos)
                        : new Phase.AwaitingStream(
                                kubelet.kubelet(), kubelet.attempt(), nanos + STREAM_TIMEOUT.toNanos()));
    }

    private Step registerFailed(String reason, long nanos) {
        return registerCompleted(
                nanos,
                kubelet -> streams > 0
                        ? new Phase.Registered(kubelet.kubelet(), kubelet.attempt(), nanos)
                        : new Phase.BackingOff(
                                kubelet.attempt() + 1,
                                nanos + backoffAfter(kubelet.attempt() + 1).toNanos(),
                                reason));
    }

    private Step foreignPluginAlive(String plugin, long nanos) {
        return switch (phase) {
            case Phase.Registered registered -> supersede(registered.kubelet(), plugin, nanos);
            // The kubelet connected by itself meanwhile, as it does to a socket in plugins_registry.
            case Phase.Registering registering
            when streams > 0 && registering.kubelet().equals(socket) -> supersede(registering.kubelet(), plugin, nanos);
            case Phase.Superseded beside -> stay(superseded(beside.kubelet(), plugin, false, nanos));
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.AwaitingStream _,
                    Phase.Draining _,
                    Phase.BackingOff _,
                    Phase.Deferred _ ->
                registerCompleted(nanos, _ -> new Phase.Deferred(plugin, nanos + FOREIGN_CHECK.toNanos()));
        };
    }

    private Step supersede(Present kubelet, String plugin, long nanos) {
        return new Step(
                new Registration(socket, streams, superseded(kubelet, plugin, false, nanos)),
                List.of(Effect.MUTE_STREAMS));
    }

    private static Phase superseded(Present kubelet, String plugin, boolean missedOnce, long nanos) {
        return new Phase.Superseded(kubelet, plugin, missedOnce, nanos + SUPERSEDED_CHECK.toNanos());
    }

    /** The kubelet has no plugin for the resource now: our stream belongs to an older registration, so it ends first. */
    private Step foreignPluginGone(long nanos) {
        if (!(phase instanceof Phase.Superseded beside)) {
            return stay(phase);
        }
        return beside.missedOnce()
                ? startRegister(0, true, nanos)
                : stay(new Phase.Superseded(beside.kubelet(), beside.plugin(), true, beside.untilNanos()));
    }

    private Step supersededStreamEnded(Phase.Superseded beside, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present now
            when now.equals(beside.kubelet()) ->
                stay(new Phase.Deferred(beside.plugin(), nanos + FOREIGN_CHECK.toNanos()));
            case Present _ -> startRegister(0, false, nanos);
        };
    }

    private Step foreignPluginChanged(long nanos) {
        return switch (phase) {
            case Phase.Registered _ -> new Step(this, List.of(Effect.CHECK_FOREIGN_PLUGINS));
            // The kubelet tears down its client first; then we search for foreign plugins.
            case Phase.Deferred _ -> backOff(0, TEARDOWN_DELAY, "the foreign plugin changed", nanos);
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.AwaitingStream _,
                    Phase.Draining _,
                    Phase.BackingOff _,
                    Phase.Superseded _ -> stay(phase);
        };
    }

    /** The kubelet reads options only at a registration, so it gets another one, once its stream has ended. */
    private Step optionsChanged(long nanos) {
        return phase instanceof Phase.Registered ? startRegister(0, true, nanos) : stay(phase);
    }

    /** The Register in flight ended; when the kubelet's socket changed meanwhile, the new kubelet is next. */
    private Step registerCompleted(long nanos, java.util.function.Function<Phase.Registering, Phase> next) {
        if (!(phase instanceof Phase.Registering registering)) {
            return stay(phase);
        }
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present present when present.equals(registering.kubelet()) -> stay(next.apply(registering));
            case Present _ -> startRegister(0, false, nanos);
        };
    }

    private Step tick(long nanos) {
        OptionalLong due = wakeAtNanos();
        if (due.isEmpty() || due.getAsLong() - nanos > 0) {
            return stay(phase);
        }
        return switch (phase) {
            case Phase.WaitingForKubelet _, Phase.Registering _, Phase.Registered _ -> stay(phase);
            case Phase.AwaitingStream(Present _, int attempt, long _) ->
                backOff(attempt + 1, backoffAfter(attempt + 1), "the kubelet opened no stream after Register", nanos);
            case Phase.Draining(boolean sameKubelet, long _) -> drain(sameKubelet, nanos);
            case Phase.BackingOff(int attempt, long _, String _) -> startRegister(attempt, true, nanos);
            case Phase.Deferred _ -> startRegister(0, true, nanos);
            case Phase.Superseded(Present kubelet, String plugin, boolean missedOnce, long _) ->
                new Step(
                        new Registration(socket, streams, superseded(kubelet, plugin, missedOnce, nanos)),
                        List.of(Effect.CHECK_FOREIGN_PLUGINS));
        };
    }

    private Step startRegister(int attempt, boolean sameKubelet, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present kubelet ->
                streams > 0
                        ? drain(sameKubelet, nanos)
                        : new Step(
                                new Registration(socket, streams, new Phase.Registering(kubelet, attempt)),
                                List.of(Effect.REGISTER));
        };
    }

    private Step drain(boolean sameKubelet, long nanos) {
        var draining = new Phase.Draining(sameKubelet, nanos + DRAIN_REPEAT.toNanos());
        return new Step(new Registration(socket, streams, draining), List.of(Effect.END_STREAMS));
    }

    private Step backOff(int attempt, Duration length, String reason, long nanos) {
        return switch (socket) {
            case KubeletSocket.Absent _ -> stay(new Phase.WaitingForKubelet());
            case Present _ -> stay(new Phase.BackingOff(attempt, nanos + length.toNanos(), reason));
        };
    }

    /** 1 s, 2 s, 4 s … 30 s. */
    private static Duration backoffAfter(int attempt) {
        Duration length = Duration.ofSeconds(1L << Math.clamp(attempt - 1L, 0, 5));
        return length.compareTo(MAX_BACKOFF) < 0 ? length : MAX_BACKOFF;
    }

    private Step stay(Phase next) {
        return new Step(new Registration(socket, streams, next), List.of());
    }
}
