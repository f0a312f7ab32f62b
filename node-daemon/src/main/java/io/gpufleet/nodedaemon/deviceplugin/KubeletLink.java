package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.app.KubeletFace;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Registration;
import io.gpufleet.nodedaemon.model.Registration.Event;
import io.gpufleet.nodedaemon.model.Registration.Phase;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what the registration machine says, for one resource; everything on one context. */
public final class KubeletLink implements KubeletFace, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KubeletLink.class);
    /** The kubelet dials us before it answers, and may take its time after a start. */
    private static final long REGISTER_DEADLINE_SECONDS = 15;

    private final Vertx vertx;
    private final Context context;
    private final PluginDirectory directory;
    private final LinkSettings settings;
    private final Counters counters;
    private final LongSupplier nanos;
    private final WatchStreams streams;
    private final PluginServer server;
    private final GrpcClient client;
    private volatile Registration machine = Registration.INITIAL;
    private volatile boolean shown;
    private @Nullable DirectoryWatch watch;
    private @Nullable HttpServer serving;
    private @Nullable Path socket;
    private int serial;
    private String lastForeign = "";
    private long timer = -1;

    /**
     * What the link is configured with.
     *
     * @param directory the kubelet's device-plugins directory
     * @param resource resource name that is registered
     * @param epoch of this start; part of the socket's name
     * @param checkpointChanged told when the kubelet's checkpoint changed, on any thread
     */
    public record LinkSettings(Path directory, String resource, long epoch, Runnable checkpointChanged) {}

    /** A link that does nothing until it is shown a list. */
    public KubeletLink(Vertx vertx, LinkSettings settings, KubeletDesk desk, Counters counters, LongSupplier nanos) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.settings = settings;
        this.directory = new PluginDirectory(settings.directory());
        this.counters = counters;
        this.nanos = nanos;
        this.streams = new WatchStreams(
                context, desk::list, () -> tell(new Event.StreamOpened()), () -> tell(new Event.StreamEnded()));
        this.server = new PluginServer(vertx, desk, streams);
        this.client = GrpcClient.client(vertx);
    }

    @Override
    public void show(DeviceList list) {
        if (shown) {
            streams.show();
        } else if (!list.devices().isEmpty()) {
            // A node without devices has nothing to register; once registered, even an empty list is a word.
            shown = true;
            context.runOnContext(_ -> watch = new DirectoryWatch(settings.directory(), this::directoryChanged));
        }
    }

    /** Streams that are open now. */
    public int openStreams() {
        return streams.count();
    }

    /** Why the kubelet does not have our devices; empty when it does, or when there is nothing to register. */
    public Optional<String> notRegistered() {
        if (!shown) {
            return Optional.empty();
        }
        return switch (machine.phase()) {
            case Phase.Registered _, Phase.Yielding _ -> Optional.empty();
            case Phase.WaitingForKubelet _ ->
                Optional.of("kubelet: " + directory.kubeletSocket() + " is not there; is the kubelet running?");
            case Phase.Registering _ -> Optional.of("kubelet: Register is in flight");
            case Phase.ExpectingStream _ -> Optional.of("kubelet: it has not opened its stream yet");
            case Phase.Draining _ -> Optional.of("kubelet: the stream of the old one is ending");
            case Phase.Pausing(int _, long _, String reason) -> Optional.of("kubelet: " + reason);
        };
    }

    private void directoryChanged(Set<String> names) {
        var seen = directory.look();
        context.runOnContext(_ -> tell(new Event.SocketLooked(seen)));
        if (names.contains("kubelet_internal_checkpoint")) {
            settings.checkpointChanged().run();
        }
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
        vertx.executeBlocking(directory::liveForeignPlugin).onComplete(foreign -> {
            if (foreign.succeeded() && foreign.result().isPresent()) {
                tell(new Event.ForeignPluginAlive(foreign.result().get()));
            } else {
                serve().compose(this::callRegister).onComplete(answer -> {
                    if (answer.succeeded()) {
                        counters.registered();
                        tell(new Event.Answered());
                    } else {
                        counters.registrationFailed();
                        tell(new Event.Failed(
                                "Register failed: " + answer.cause().getMessage()));
                    }
                });
            }
        });
    }

    private Future<?> callRegister(Path served) {
        var request = RegisterRequest.newBuilder()
                .setVersion("v1beta1")
                .setEndpoint(served.getFileName().toString())
                .setResourceName(settings.resource())
                .build();
        return client.request(
                        SocketAddress.domainSocketAddress(
                                directory.kubeletSocket().toString()),
                        RegistrationGrpcClient.Register)
                .compose(call -> {
                    call.timeout(REGISTER_DEADLINE_SECONDS, TimeUnit.SECONDS);
                    return call.send(request);
                })
                .compose(response -> response.last());
    }

    /** A starting kubelet deletes every socket in its directory, ours too: then it is served anew, under a new name. */
    private Future<Path> serve() {
        Path current = socket;
        if (current != null && Files.exists(current)) {
            return Future.succeededFuture(current);
        }
        HttpServer old = serving;
        Future<?> ended = old == null ? Future.succeededFuture() : old.close().otherwiseEmpty();
        Path next = directory.ownSocket(settings.epoch(), serial++);
        if (serial == 1) {
            directory.removeLeftovers();
        }
        return ended.compose(_ -> server.listen(next)).map(listening -> {
            serving = listening;
            socket = next;
            return next;
        });
    }

    private void note(Phase before, Phase after) {
        if (before.equals(after)) {
            return;
        }
        switch (after) {
            case Phase.Registered _ ->
                LOG.atInfo().addKeyValue("resource", settings.resource()).log("the kubelet holds our stream");
            case Phase.Yielding(String plugin, long _) -> {
                if (!plugin.equals(lastForeign)) {
                    lastForeign = plugin;
                    LOG.atWarn()
                            .addKeyValue("plugin", plugin)
                            .addKeyValue("resource", settings.resource())
                            .log("another device plugin serves the resource, not registered; remove that plugin");
                }
            }
            case Phase.Pausing(int attempt, long _, String reason) ->
                LOG.atInfo()
                        .addKeyValue("attempt", attempt)
                        .addKeyValue("reason", reason)
                        .log("registers again soon");
            case Phase.WaitingForKubelet _ ->
                LOG.atInfo().addKeyValue("socket", directory.kubeletSocket()).log("waits for the kubelet");
            case Phase.Registering _, Phase.ExpectingStream _, Phase.Draining _ -> {}
        }
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
        client.close();
        if (serving != null) {
            serving.close();
        }
    }
}
