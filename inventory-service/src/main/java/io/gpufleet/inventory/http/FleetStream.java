package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.query.FleetChanges;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * {@code /v1/stream}: the counts of the fleet and the nodes that changed, as Server-Sent Events, once a second at most. A
 * client that reads slowly gets fewer events with all changes since its last one: each is compared with the image of the
 * fleet that it was sent.
 */
public final class FleetStream implements AutoCloseable {
    /** A stream ends after this time, so that its client authenticates again. */
    static final Duration LIFETIME = Duration.ofMinutes(5);

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final int MAX_CLIENTS = 200;

    private final FleetView view;
    private final BooleanSupplier ready;
    private final RequestWorkers workers;
    private final Vertx vertx;
    private final Set<StreamClient> clients = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    private FleetStream(FleetView view, BooleanSupplier ready, RequestWorkers workers, Vertx vertx) {
        this.view = view;
        this.ready = ready;
        this.workers = workers;
        this.vertx = vertx;
    }

    /**
     * Begins to send; a stream ends by {@link #close}.
     *
     * @param ready whether this replica has read its changelog: what it shows before would look like nodes that went
     */
    public static FleetStream open(FleetView view, BooleanSupplier ready, RequestWorkers workers, Vertx vertx) {
        var stream = new FleetStream(view, ready, workers, vertx);
        stream.schedule();
        return stream;
    }

    /** Mounts the route, behind the one that reviews tokens. */
    public void mount(Router router) {
        router.get("/v1/stream").handler(this::connect);
    }

    private void connect(RoutingContext context) {
        if (!QueryParameters.accept(context, Set.of())) {
            return;
        }
        if (closed || !ready.getAsBoolean()) {
            refuse(context, "this replica is not ready");
        } else if (clients.size() >= MAX_CLIENTS) {
            refuse(context, MAX_CLIENTS + " streams are open");
        } else {
            Fleet now = view.fleet();
            var client = StreamClient.open(context.response(), now, System.nanoTime() + LIFETIME.toNanos());
            clients.add(client);
            context.response().closeHandler(_ -> clients.remove(client));
            client.send(now, summary(), "");
        }
    }

    private static void refuse(RoutingContext context, String reason) {
        context.response().putHeader("retry-after", "1");
        ProblemDetails.respond(context, 503, reason + "; try again, or another replica");
    }

    private void schedule() {
        vertx.setTimer(INTERVAL.toMillis(), _ -> {
            if (closed) {
                return;
            }
            if (clients.isEmpty()) {
                schedule();
                return;
            }
            workers.run(this::sendToAll).onComplete(_ -> schedule());
        });
    }

    /** The number of clients; on a worker thread, since it compares every node. */
    private int sendToAll() {
        if (ready.getAsBoolean()) {
            Fleet now = view.fleet();
            String summary = summary();
            Map<Fleet, String> changes = new IdentityHashMap<>();
            for (StreamClient client : clients) {
                client.send(now, summary, changes.computeIfAbsent(client.seen(), seen -> changes(seen, now)));
            }
        }
        clients.forEach(client -> client.endAfter(System.nanoTime()));
        // The connection of a stream that has ended may stay open for other requests.
        clients.removeIf(StreamClient::ended);
        return clients.size();
    }

    private String summary() {
        return InventoryJson.summary(view.summary(), view.suspected()).encode();
    }

    private static String changes(Fleet seen, Fleet now) {
        var changes = FleetChanges.between(seen, now);
        return changes.size() == 0 ? "" : InventoryJson.changes(changes).encode();
    }

    /** Ends every stream: a server waits for its open requests when it closes. */
    @Override
    public void close() {
        closed = true;
        clients.forEach(StreamClient::end);
    }
}
