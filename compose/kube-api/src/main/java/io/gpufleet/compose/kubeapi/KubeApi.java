package io.gpufleet.compose.kubeapi;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.Webhooks;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.rest.Cluster;
import io.gpufleet.compose.kubeapi.rest.Door;
import io.gpufleet.compose.kubeapi.rest.InProcess;
import io.gpufleet.compose.kubeapi.rest.Routes;
import io.gpufleet.compose.kubeapi.rest.Tokens;
import io.gpufleet.compose.kubeapi.schedule.Scheduler;
import io.gpufleet.compose.kubeapi.store.Store;
import io.gpufleet.compose.kubeapi.type.Types;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.List;

/** A Kubernetes API in memory, with a scheduler, over plain HTTP; what it lacks stands in the module's README. */
public final class KubeApi implements AutoCloseable {
    private static final int REMEMBERED_CHANGES = 10_000;

    private final Shutdown parts = new Shutdown();
    private final String url;

    private KubeApi(String host, int port, Tokens tokens) {
        Store store = new Store(REMEMBERED_CHANGES);
        Cluster cluster =
                new Cluster(store, new Types(), parts.add("webhooks", new Webhooks(store)), tokens, Clock.systemUTC());
        Routes routes = new Routes(cluster);
        InProcess inside = new InProcess(cluster, routes);
        List.of("default", "kube-system", "kube-public", "kube-node-lease").forEach(inside::createNamespace);
        Vertx vertx = Vertx.vertx();
        parts.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        Door door = parts.add("http", Door.open(vertx, routes, tokens, host, port));
        parts.add("scheduler", Scheduler.start(store, inside));
        url = "http://" + host + ":" + door.port();
    }

    /** Starts with the administrator's token only; port 0 takes a free one. */
    public static KubeApi start(String host, int port) {
        return start(host, port, Tokens.adminOnly());
    }

    /** Starts with tokens that TokenReview and the API itself know. */
    public static KubeApi start(String host, int port, Tokens tokens) {
        return new KubeApi(host, port, tokens);
    }

    /** The base address. */
    public String url() {
        return url;
    }

    /** Writes a kubeconfig of the administrator, at once or not at all, and hands back its path. */
    public Path kubeconfig(Path file) {
        ObjectNode config = Json.object().put("apiVersion", "v1").put("kind", "Config");
        ObjectNode cluster = config.putArray("clusters").addObject().put("name", "gpufleet");
        cluster.putObject("cluster").put("server", url);
        ObjectNode user = config.putArray("users").addObject().put("name", "admin");
        user.putObject("user").put("token", Tokens.ADMIN);
        ObjectNode context = config.putArray("contexts").addObject().put("name", "gpufleet");
        context.putObject("context").put("cluster", "gpufleet").put("user", "admin");
        config.put("current-context", "gpufleet");
        try {
            Path whole = file.toAbsolutePath();
            Files.createDirectories(whole.getParent());
            Path draft = whole.resolveSibling(whole.getFileName() + ".new");
            Files.write(draft, Json.bytes(config));
            return Files.move(draft, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            throw new UncheckedIOException("the kubeconfig " + file + " can not be written", failed);
        }
    }

    @Override
    public void close() {
        parts.close();
    }
}
