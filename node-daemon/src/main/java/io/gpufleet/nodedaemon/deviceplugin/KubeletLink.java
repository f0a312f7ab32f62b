package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.ResourceDesk;
import io.gpufleet.nodedaemon.model.KubeletManners;
import io.gpufleet.nodedaemon.model.KubeletSocket;
import io.gpufleet.nodedaemon.model.Registration;
import io.gpufleet.nodedaemon.model.Registration.Event;
import io.gpufleet.nodedaemon.model.Registration.Phase;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.grpc.client.GrpcClient;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what the registration machine says, for one resource; everything on one context. */
final class KubeletLink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KubeletLink.class);

    private final Surface surface;
    private final Vertx vertx;
    private final Context context;
    private final String resource;
    private final LongSupplier nanos;
    private final WatchStreams streams;
    private final ServedSocket socket;
    private final GrpcClient client;
    private final Way way;
    private final SelfCheck check;
    private volatile Registration machine = Registration.INITIAL;
    private String lastForeign = "";
    private long timer = -1;

    /**
     * What every link of a daemon has in common.
     *
     * @param directory where kubelet.sock is
     * @param own where our sockets are
     */
    record Surface(
            Vertx vertx,
            PluginDirectory directory,
            OwnSockets own,
            KubeletManners manners,
            Counters counters,
            LongSupplier nanos) {}

    /** A link that does nothing until it is told of a kubelet. */
    KubeletLink(Surface surface, String resource, ResourceDesk desk) {
        this.surface = surface;
        this.vertx = surface.vertx();
        this.context = vertx.getOrCreateContext();
        this.resource = resource;
        this.nanos = surface.nanos();
        this.streams = new WatchStreams(
                context, desk::list, () -> tell(new Event.StreamOpened()), () -> tell(new Event.StreamEnded()));
        var server = new PluginServer(vertx, desk, streams);
        this.socket = new ServedSocket(server, surface.own(), resource);
        this.client = GrpcClient.client(vertx);
        this.way = way(surface, server);
        this.check = new SelfCheck(client);
    }

    private Way way(Surface surface, PluginServer server) {
        return switch (surface.manners().way()) {
            case DEVICE_PLUGINS -> new RegisterCall(client, surface.directory().kubeletSocket(), socket, resource);
            case PLUGINS_REGISTRY -> {
                var registry = new RegistrySocket(
                        vertx, socket, resource, surface.own().directory());
                registry.serve(server.grpc());
                yield registry;
            }
        };
    }

    /** Shows the newest list on every open stream; returns at once. */
    void show() {
        streams.show();
    }

    /** The kubelet's directory was looked at; from any thread. */
    void looked(KubeletSocket seen) {
        context.runOnContext(_ -> {
            way.looked(seen);
            tell(new Event.SocketLooked(seen));
        });
    }

    /** Somebody else's plugin came or went; from any thread. */
    void foreignMoved() {
        context.runOnContext(_ -> tell(new Event.ForeignMoved()));
    }

    /** Streams that are open now. */
    int openStreams() {
        return streams.count();
    }

    /** Why the kubelet does not have our devices; empty when it does. */
    Optional<String> notRegistered() {
        return switch (machine.phase()) {
            case Phase.Registered _, Phase.Yielding _, Phase.Beside _ -> Optional.empty();
            case Phase.WaitingForKubelet _ ->
                Optional.of(
                        "kubelet: " + surface.directory().kubeletSocket() + " is not there; is the kubelet running?");
            case Phase.Registering _ -> Optional.of("kubelet: Register is in flight");
            case Phase.ExpectingStream _ -> Optional.of("kubelet: it has not opened its stream yet");
            case Phase.Draining _ -> Optional.of("kubelet: an old stream is ending");
            case Phase.Pausing(int _, long _, String reason) -> Optional.of("kubelet: " + reason);
        };
    }

    /** Calls our own server once and looks for other plugins, where a kubelet holds our stream; from any thread. */
    void check() {
        context.runOnContext(_ -> {
            if (machine.phase() instanceof Phase.Registered) {
                socket.path().ifPresent(check::check);
                tell(new Event.ForeignMoved());
            } else {
                check.rest();
            }
        });
    }

    /** Why the kubelet can not be answered; empty when it can. */
    Optional<String> stuck() {
        return check.stuck()
                ? Optional.of("the server of " + resource + " does not answer on its own socket")
                : Optional.empty();
    }

    /** The socket of the plugin that serves the resource instead; empty where none does. */
    String yieldsTo() {
        return switch (machine.phase()) {
            case Phase.Yielding(String plugin, long _) -> plugin;
            case Phase.Beside beside -> beside.plugin();
            case Phase.WaitingForKubelet _,
                    Phase.Registering _,
                    Phase.ExpectingStream _,
                    Phase.Registered _,
                    Phase.Draining _,
                    Phase.Pausing _ -> "";
        };
    }

    private void tell(Event event) {
        Registration before = machine;
        Registration.Step step = before.on(event, nanos.getAsLong());
        machine = step.next();
        note(before.phase(), machine.phase());
        step.effects().forEach(effect -> {
            switch (effect) {
                case REGISTER -> register();
                case END_STREAMS -> streams.endAll();
                case HUSH -> streams.hush();
                case LOOK_FOR_FOREIGN -> lookForForeign();
            }
        });
        wake();
    }

    private void wake() {
        vertx.cancelTimer(timer);
        OptionalLong due = machine.wakeAtNanos();
        if (due.isPresent()) {
            long millis = TimeUnit.NANOSECONDS.toMillis(due.getAsLong() - nanos.getAsLong()) + 1;
            timer = vertx.setTimer(Math.max(1, millis), _ -> context.runOnContext(_ -> tell(new Event.Tick())));
        }
    }

    private void register() {
        vertx.executeBlocking(this::foreign).onComplete(foreign -> {
            if (foreign.succeeded() && foreign.result().isPresent()) {
                tell(new Event.ForeignPluginAlive(foreign.result().get()));
            } else if (machine.phase() instanceof Phase.Registering(KubeletSocket.Present kubelet, int _)) {
                way.register(kubelet).onComplete(answer -> {
                    if (answer.succeeded()) {
                        surface.counters().registered();
                        tell(new Event.Answered());
                    } else {
                        surface.counters().registrationFailed();
                        tell(new Event.Failed(
                                "Register failed: " + answer.cause().getMessage()));
                    }
                });
            }
        });
    }

    private void lookForForeign() {
        vertx.executeBlocking(this::foreign)
                .onSuccess(found ->
                        tell(found.<Event>map(Event.ForeignPluginAlive::new).orElseGet(Event.ForeignPluginGone::new)));
    }

    private Optional<String> foreign() {
        return switch (surface.manners().plugin()) {
            case AUTO -> surface.directory().liveForeignPlugin();
            case ON, OFF -> Optional.empty();
        };
    }

    private void note(Phase before, Phase after) {
        if (before.equals(after)) {
            return;
        }
        switch (after) {
            case Phase.Registered _ -> {
                lastForeign = "";
                LOG.atInfo().addKeyValue("resource", resource).log("the kubelet holds our stream");
            }
            case Phase.Yielding(String plugin, long _) -> {
                if (!plugin.equals(lastForeign)) {
                    lastForeign = plugin;
                    LOG.atWarn()
                            .addKeyValue("plugin", plugin)
                            .addKeyValue("resource", resource)
                            .log("another device plugin serves the resource, not registered; remove that plugin");
                }
            }
            case Phase.Beside beside
            when !(before instanceof Phase.Beside) ->
                LOG.atWarn()
                        .addKeyValue("plugin", beside.plugin())
                        .addKeyValue("resource", resource)
                        .log(
                                "another device plugin came and has the resource now, the kubelet is shown nothing more; remove one of the two");
            case Phase.Beside _ -> {}
            case Phase.Pausing(int attempt, long _, String reason) ->
                LOG.atInfo()
                        .addKeyValue("resource", resource)
                        .addKeyValue("attempt", attempt)
                        .addKeyValue("reason", reason)
                        .log("registers again soon");
            case Phase.WaitingForKubelet _ ->
                LOG.atInfo()
                        .addKeyValue("resource", resource)
                        .addKeyValue("socket", surface.directory().kubeletSocket())
                        .log("waits for the kubelet");
            case Phase.Registering _, Phase.ExpectingStream _, Phase.Draining _ -> {}
        }
    }

    /** Removes our socket, so that nobody comes to a process that ends. */
    void leave() {
        socket.removeFile();
    }

    @Override
    public void close() {
        client.close();
        socket.close();
    }
}
