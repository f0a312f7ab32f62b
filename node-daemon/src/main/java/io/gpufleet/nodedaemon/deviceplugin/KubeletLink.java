package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.ResourceDesk;
import io.gpufleet.nodedaemon.model.KubeletSocket;
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
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what the registration machine says, for one resource; everything on one context. */
final class KubeletLink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KubeletLink.class);
    /** The kubelet dials us before it answers, and may take its time after a start. */
    private static final long REGISTER_DEADLINE_SECONDS = 15;

    private final Vertx vertx;
    private final Context context;
    private final PluginDirectory directory;
    private final String resource;
    private final long epoch;
    private final Counters counters;
    private final LongSupplier nanos;
    private final WatchStreams streams;
    private final PluginServer server;
    private final GrpcClient client;
    private volatile Registration machine = Registration.INITIAL;
    private @Nullable HttpServer serving;
    private @Nullable Path socket;
    private int serial;
    private String lastForeign = "";
    private long timer = -1;

    /** What every link of a daemon has in common. */
    record Surface(Vertx vertx, Path directory, long epoch, Counters counters, LongSupplier nanos) {}

    /** A link that does nothing until it is told of a kubelet. */
    KubeletLink(Surface surface, String resource, ResourceDesk desk) {
        this.vertx = surface.vertx();
        this.context = vertx.getOrCreateContext();
        this.resource = resource;
        this.epoch = surface.epoch();
        this.directory = new PluginDirectory(surface.directory());
        this.counters = surface.counters();
        this.nanos = surface.nanos();
        this.streams = new WatchStreams(
                context, desk::list, () -> tell(new Event.StreamOpened()), () -> tell(new Event.StreamEnded()));
        this.server = new PluginServer(vertx, desk, streams);
        this.client = GrpcClient.client(vertx);
    }

    /** Shows the newest list on every open stream; returns at once. */
    void show() {
        streams.show();
    }

    /** The kubelet's directory was looked at; from any thread. */
    void looked(KubeletSocket seen) {
        context.runOnContext(_ -> tell(new Event.SocketLooked(seen)));
    }

    /** Streams that are open now. */
    int openStreams() {
        return streams.count();
    }

    /** Why the kubelet does not have our devices; empty when it does. */
    Optional<String> notRegistered() {
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
                .setResourceName(resource)
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
        Path next = directory.ownSocket(resource, epoch, serial++);
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
                LOG.atInfo().addKeyValue("resource", resource).log("the kubelet holds our stream");
            case Phase.Yielding(String plugin, long _) -> {
                if (!plugin.equals(lastForeign)) {
                    lastForeign = plugin;
                    LOG.atWarn()
                            .addKeyValue("plugin", plugin)
                            .addKeyValue("resource", resource)
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
        client.close();
        if (serving != null) {
            serving.close();
        }
    }
}
