package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.ResourceHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.nodedaemon.model.registration.Registration;
import io.gpufleet.nodedaemon.model.registration.Registration.Event;
import io.gpufleet.nodedaemon.model.registration.Registration.Phase;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The device plugin of one resource: runs the {@link Registration} state machine. All state belongs to one event loop. */
final class DevicePluginEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DevicePluginEndpoint.class);

    private final DevicePluginContext pluginContext;
    private final EventLoop loop;
    private final String resource;
    private final LongSupplier nanos;
    private final ResourceHandler resourceHandler;
    private final Runnable noListDue;
    private final ListAndWatchStreams streams;
    private final PluginSocket socket;
    private final KubeletRegistrar registrar;
    private final PluginSelfCheck check;
    private volatile Registration stateMachine = Registration.INITIAL;
    private String lastForeignPlugin = "";
    private boolean registeredPreStart;
    private @Nullable ScheduledFuture<?> timer;

    /**
     * Dependencies shared by all endpoints of a daemon.
     *
     * @param loop serves the sockets
     * @param files reads directories and probes sockets of others, which may block
     * @param directory directory of kubelet.sock
     * @param socketPaths paths of our sockets
     */
    record DevicePluginContext(
            EventLoop loop,
            Executor files,
            DevicePluginsDirectory directory,
            PluginSocketPaths socketPaths,
            RegistrationSettings registration,
            DaemonCounters counters,
            LongSupplier nanos) {}

    /**
     * Creates an endpoint; it is idle until {@link #socketObserved}.
     *
     * @param noListDue called for each stream that got its first list, and when none will be opened soon
     */
    DevicePluginEndpoint(
            DevicePluginContext shared, String resource, ResourceHandler resourceHandler, Runnable noListDue) {
        this.pluginContext = shared;
        this.loop = shared.loop();
        this.resource = resource;
        this.nanos = shared.nanos();
        this.resourceHandler = resourceHandler;
        this.noListDue = noListDue;
        this.streams = new ListAndWatchStreams(
                loop,
                ListAndWatchStreams.TEARDOWN_LIMIT,
                resourceHandler::list,
                () -> {
                    noListDue.run();
                    handle(new Event.StreamOpened());
                },
                () -> handle(new Event.StreamEnded()));
        var server = new DevicePluginServer(loop, resourceHandler, streams);
        this.socket = new PluginSocket(server, shared.socketPaths(), resource);
        var calls = new UnixGrpcClient(loop);
        this.registrar = registrar(shared, server, calls);
        this.check = new PluginSelfCheck(calls);
    }

    private KubeletRegistrar registrar(DevicePluginContext shared, DevicePluginServer server, UnixGrpcClient calls) {
        return switch (shared.registration().transport()) {
            case DEVICE_PLUGINS ->
                new RegisterCallRegistrar(calls, shared.directory().kubeletSocket(), socket, resource);
            case PLUGINS_REGISTRY -> {
                var registry = new PluginWatcherRegistrar(
                        loop, socket, resource, shared.socketPaths().directory());
                registry.serve(server.grpc());
                yield registry;
            }
        };
    }

    /** Sends the newest list on every open stream; does not block. */
    void publish() {
        loop.execute(() -> {
            streams.publish();
            registerChangedOptions();
        });
    }

    private void registerChangedOptions() {
        if (stateMachine.phase() instanceof Phase.Registered && resourceHandler.preStart() != registeredPreStart) {
            handle(new Event.OptionsChanged());
        }
    }

    /** Handles a reading of kubelet.sock; thread-safe. */
    void socketObserved(KubeletSocket seen) {
        loop.execute(() -> {
            registrar.socketObserved(seen);
            handle(new Event.SocketObserved(seen));
        });
    }

    /** Handles a change of a foreign plugin's socket; thread-safe. */
    void foreignPluginChanged() {
        loop.execute(() -> handle(new Event.ForeignPluginChanged()));
    }

    /** Number of open streams. */
    int openStreams() {
        return streams.count();
    }

    /** Why the resource is not registered; empty if it is. */
    Optional<String> notRegisteredReason() {
        return switch (stateMachine.phase()) {
            case Phase.Registered _, Phase.Deferred _, Phase.Superseded _ -> Optional.empty();
            case Phase.WaitingForKubelet _ ->
                Optional.of("kubelet: " + pluginContext.directory().kubeletSocket()
                        + " does not exist; is the kubelet running?");
            case Phase.Registering _ -> Optional.of("kubelet: Register is in flight");
            case Phase.AwaitingStream _ -> Optional.of("kubelet: ListAndWatch stream not opened yet");
            case Phase.Draining _ -> Optional.of("kubelet: previous ListAndWatch stream is ending");
            case Phase.BackingOff(int _, long _, String reason) -> Optional.of("kubelet: " + reason);
        };
    }

    /** While registered, calls our own server once and checks for foreign plugins; thread-safe. */
    void check() {
        loop.execute(() -> {
            if (stateMachine.phase() instanceof Phase.Registered) {
                socket.path().ifPresent(check::check);
                handle(new Event.ForeignPluginChanged());
            } else {
                check.reset();
            }
        });
    }

    /** Why the server does not respond; empty if it does. */
    Optional<String> stuckReason() {
        return check.stuck()
                ? Optional.of("the server of " + resource + " does not respond on its own socket")
                : Optional.empty();
    }

    /** The socket of the plugin that serves the resource instead; empty if there is none. */
    String supersededBy() {
        return switch (stateMachine.phase()) {
            case Phase.Deferred(String plugin, long _) -> plugin;
            case Phase.Superseded superseded -> superseded.plugin();
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.AwaitingStream _,
                    Phase.Registered _,
                    Phase.Draining _,
                    Phase.BackingOff _ -> "";
        };
    }

    private void handle(Event event) {
        Registration before = stateMachine;
        Registration.Step step = before.handle(event, nanos.getAsLong());
        stateMachine = step.next();
        // Before the effects: none of them may stop the clock of the state machine.
        scheduleTimer();
        step.effects().forEach(effect -> {
            switch (effect) {
                case REGISTER -> register();
                case END_STREAMS -> streams.endAll();
                case MUTE_STREAMS -> streams.mute();
                case CHECK_FOREIGN_PLUGINS -> findForeignPlugin();
            }
        });
        logTransition(before.phase(), step.next().phase());
        switch (step.next().phase()) {
            case Phase.WaitingForKubelet _, Phase.BackingOff _, Phase.Deferred _, Phase.Superseded _ -> noListDue.run();
            case Phase.Registering _, Phase.AwaitingStream _, Phase.Registered _, Phase.Draining _ -> {}
        }
        registerChangedOptions();
    }

    private void scheduleTimer() {
        if (timer != null) {
            timer.cancel(false);
        }
        OptionalLong due = stateMachine.wakeAtNanos();
        if (due.isPresent()) {
            long millis = TimeUnit.NANOSECONDS.toMillis(due.getAsLong() - nanos.getAsLong()) + 1;
            timer = loop.schedule(() -> handle(new Event.Tick()), Math.max(1, millis), TimeUnit.MILLISECONDS);
        }
    }

    private void register() {
        lookForForeignPlugin(foreign -> {
            if (foreign.isPresent()) {
                handle(new Event.ForeignPluginAlive(foreign.get()));
            } else if (stateMachine.phase() instanceof Phase.Registering(KubeletSocket.Present kubelet, int _)) {
                registeredPreStart = resourceHandler.preStart();
                registrar.register(kubelet).whenComplete((_, failed) -> {
                    if (failed == null) {
                        pluginContext.counters().registered();
                        handle(new Event.RegisterSucceeded());
                    } else {
                        pluginContext.counters().registrationFailed();
                        handle(new Event.RegisterFailed("Register failed: " + reason(failed)));
                    }
                });
            }
        });
    }

    private static String reason(Throwable failed) {
        return String.valueOf(
                failed instanceof CompletionException && failed.getCause() != null
                        ? failed.getCause().getMessage()
                        : failed.getMessage());
    }

    private void findForeignPlugin() {
        lookForForeignPlugin(found ->
                handle(found.<Event>map(Event.ForeignPluginAlive::new).orElseGet(Event.ForeignPluginGone::new)));
    }

    private void lookForForeignPlugin(Consumer<Optional<String>> found) {
        CompletableFuture.supplyAsync(this::foreignPlugin, pluginContext.files())
                .exceptionally(_ -> Optional.empty())
                .thenAcceptAsync(found, loop);
    }

    private Optional<String> foreignPlugin() {
        return switch (pluginContext.registration().mode()) {
            case AUTO -> pluginContext.directory().liveForeignPlugin();
            case ON, OFF -> Optional.empty();
        };
    }

    private void logTransition(Phase before, Phase after) {
        if (before.equals(after)) {
            return;
        }
        switch (after) {
            case Phase.Registered _ -> {
                lastForeignPlugin = "";
                LOG.atInfo().addKeyValue("resource", resource).log("registered with the kubelet");
            }
            case Phase.Deferred(String plugin, long _) -> {
                if (!plugin.equals(lastForeignPlugin)) {
                    lastForeignPlugin = plugin;
                    LOG.atWarn()
                            .addKeyValue("plugin", plugin)
                            .addKeyValue("resource", resource)
                            .log("deferred to another device plugin of the resource, not registered; remove that"
                                    + " plugin");
                }
            }
            case Phase.Superseded superseded
            when !(before instanceof Phase.Superseded) ->
                LOG.atWarn()
                        .addKeyValue("plugin", superseded.plugin())
                        .addKeyValue("resource", resource)
                        .log("superseded by another device plugin, updates to the kubelet are muted; remove one of"
                                + " the two");
            case Phase.Superseded _ -> {}
            case Phase.BackingOff(int attempt, long _, String reason) ->
                LOG.atInfo()
                        .addKeyValue("resource", resource)
                        .addKeyValue("attempt", attempt)
                        .addKeyValue("reason", reason)
                        .log("registration failed, retrying");
            case Phase.WaitingForKubelet _ ->
                LOG.atInfo()
                        .addKeyValue("resource", resource)
                        .addKeyValue("socket", pluginContext.directory().kubeletSocket())
                        .log("waiting for the kubelet");
            case Phase.Registering _, Phase.AwaitingStream _, Phase.Draining _ -> {}
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
