package io.gpufleet.testbed.fakeapiserver;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.VertxInstance;
import io.gpufleet.testbed.fakeapiserver.admission.WebhookDispatcher;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.rest.ApiHttpServer;
import io.gpufleet.testbed.fakeapiserver.rest.BearerTokens;
import io.gpufleet.testbed.fakeapiserver.rest.LoopbackClient;
import io.gpufleet.testbed.fakeapiserver.rest.RequestRouter;
import io.gpufleet.testbed.fakeapiserver.rest.ServerContext;
import io.gpufleet.testbed.fakeapiserver.schedule.Scheduler;
import io.gpufleet.testbed.fakeapiserver.store.ObjectStore;
import io.gpufleet.testbed.fakeapiserver.type.ResourceTypes;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/**
 * A Kubernetes API server in memory, with a scheduler, over plain HTTP. The README of the module lists what it does not
 * do.
 */
public final class FakeApiServer implements AutoCloseable {
    private static final int HISTORY_LIMIT = 10_000;

    private final Shutdown shutdown = new Shutdown();
    private final String url;

    private FakeApiServer(String host, int port, BearerTokens tokens) {
        ObjectStore store = new ObjectStore(HISTORY_LIMIT);
        ServerContext cluster = new ServerContext(
                store,
                new ResourceTypes(),
                shutdown.add("webhooks", new WebhookDispatcher(store)),
                tokens,
                Clock.systemUTC());
        RequestRouter routes = new RequestRouter(cluster);
        LoopbackClient inside = new LoopbackClient(cluster, routes);
        List.of("default", "kube-system", "kube-public", "kube-node-lease").forEach(inside::createNamespace);
        Vertx vertx = VertxInstance.open();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        ApiHttpServer server = shutdown.add("http", ApiHttpServer.open(vertx, routes, tokens, host, port));
        shutdown.add("scheduler", Scheduler.start(store, inside));
        url = "http://" + host + ":" + server.port();
    }

    /** Starts with the token of the administrator; port 0 takes a free one. */
    public static FakeApiServer start(String host, int port) {
        return start(host, port, BearerTokens.adminOnly());
    }

    /** Starts with these tokens, for authentication and TokenReview. */
    public static FakeApiServer start(String host, int port, BearerTokens tokens) {
        return new FakeApiServer(host, port, tokens);
    }

    /** Base URL. */
    public String url() {
        return url;
    }

    /** Writes a kubeconfig of the administrator, atomically, and returns its path. */
    public Path kubeconfig(Path file) {
        ObjectNode config = Json.object().put("apiVersion", "v1").put("kind", "Config");
        ObjectNode cluster = config.putArray("clusters").addObject().put("name", "gpufleet");
        cluster.putObject("cluster").put("server", url);
        ObjectNode user = config.putArray("users").addObject().put("name", "admin");
        user.putObject("user").put("token", BearerTokens.ADMIN);
        ObjectNode context = config.putArray("contexts").addObject().put("name", "gpufleet");
        context.putObject("context").put("cluster", "gpufleet").put("user", "admin");
        config.put("current-context", "gpufleet");
        try {
            AtomicFile.write(file, Json.bytes(config), AtomicFile.Durability.PROCESS);
            return file.toAbsolutePath();
        } catch (IOException failed) {
            throw new UncheckedIOException("the kubeconfig " + file + " cannot be written", failed);
        }
    }

    @Override
    public void close() {
        shutdown.close();
    }
}
