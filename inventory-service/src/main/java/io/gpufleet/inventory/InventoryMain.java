package io.gpufleet.inventory;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.inventory.app.BoundedExecutor;
import io.gpufleet.inventory.app.Inventory;
import io.gpufleet.inventory.app.KubernetesActor;
import io.gpufleet.inventory.app.LabelReconciler;
import io.gpufleet.inventory.app.RetryTimer;
import io.gpufleet.inventory.config.InventoryConfig;
import io.gpufleet.inventory.grpc.InventoryGrpc;
import io.gpufleet.inventory.grpc.InventoryGrpcServer;
import io.gpufleet.inventory.http.InventoryMetrics;
import io.gpufleet.inventory.http.InventoryRoutes;
import io.gpufleet.inventory.kafka.InventoryProjection;
import io.gpufleet.inventory.kafka.NodeViewMapper;
import io.gpufleet.inventory.kafka.SignalSender;
import io.gpufleet.inventory.kubernetes.KubernetesClients;
import io.gpufleet.inventory.kubernetes.NodeWatch;
import io.gpufleet.inventory.kubernetes.ServerSideLabelWriter;
import io.gpufleet.inventory.model.ConsumerProgress;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.inventory.model.label.NodeLabels;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSender;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.projection.ProjectionEngine;
import io.gpufleet.wire.projection.ProjectionMeter;
import io.gpufleet.wire.projection.ProjectionSettings;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inventory-service: projects the inventory of the fleet, serves it, and labels Nodes. */
public final class InventoryMain {
    private static final Logger LOG = LoggerFactory.getLogger(InventoryMain.class);
    private static final int MAX_CONCURRENT_WRITES = 16;
    private static final Duration INITIAL_BACKOFF = Duration.ofSeconds(1);
    private static final Duration CONFLICT_RETRY_INTERVAL = Duration.ofMinutes(5);

    private final InventoryConfig config;
    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();
    private final Inventory inventory =
            new Inventory(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL));

    private InventoryMain(InventoryConfig config, Shutdown shutdown) {
        this.config = config;
        this.shutdown = shutdown;
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Map<String, String> environment = System.getenv();
        Program.run(
                "inventory-service",
                arguments,
                environment,
                InventoryConfig.SETTINGS,
                (settings, shutdown) -> start(settings, shutdown, environment));
    }

    /** A started replica: its ports and its role. */
    record RunningReplica(int http, int grpc, Supplier<String> role) {}

    /** Starts one replica, which the shutdown closes. {@code environment} names the kubeconfig. */
    static RunningReplica start(Environment settings, Shutdown shutdown, Map<String, String> environment) {
        return new InventoryMain(InventoryConfig.from(settings), shutdown).run(environment);
    }

    private RunningReplica run(Map<String, String> environment) {
        Vertx vertx = Vertx.vertx();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        KubernetesClient client = shutdown.add("kubernetes", KubernetesClients.open(environment));
        var codec =
                new Codec(config.kafka().cluster(), new Topics(config.kafka().topicPrefix()));
        var source =
                new EventSource.Service(config.kafka().cluster(), config.kafka().instance());
        var sender = shutdown.add("signals", EventSender.open(config.kafka().bootstrap(), codec, source, clock));
        var signals = new SignalSender(sender, clock);
        var labels = new LabelReconciler(
                inventory::committed,
                new ServerSideLabelWriter(client),
                signals,
                shutdown.add("workers", new BoundedExecutor(MAX_CONCURRENT_WRITES)),
                shutdown.add("timer", new RetryTimer("label-retry")),
                new LabelReconciler.ReconcilerSettings(config.labels(), INITIAL_BACKOFF, CONFLICT_RETRY_INTERVAL));
        var actor = new KubernetesActor(labels, signals, listeners -> NodeWatch.open(client, listeners));
        return serve(vertx, startProjection(codec, actor));
    }

    private ProjectionEngine startProjection(Codec codec, KubernetesActor actor) {
        var started = new AtomicReference<ProjectionEngine>();
        var projection = new InventoryProjection(inventory, () -> isCaughtUp(started.get()), actor);
        var settings = new ProjectionSettings(
                "inventory-service",
                config.kafka().instance(),
                config.kafka().bootstrap(),
                "",
                config.kafka().sessionTimeout());
        started.set(shutdown.add("projection", ProjectionEngine.start(settings, codec, projection, clock)));
        return started.get();
    }

    private boolean isCaughtUp(@Nullable ProjectionEngine engine) {
        return engine != null
                && ConsumerProgress.isCaughtUp(
                        engine.counters().lag(), inventory.committed().nodes().size());
    }

    private RunningReplica serve(Vertx vertx, ProjectionEngine engine) {
        var metrics = new InventoryMetrics(inventory::committed, inventory::suspected);
        ProjectionMeter.ALL.forEach(meter -> register(meter, engine, metrics));
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, () -> engine.failure().stream().toList(), engine::readinessFailures, metrics::scrape);
        new InventoryRoutes(
                        inventory::committed, inventory::suspected, node -> NodeLabels.labels(node, config.labels()))
                .mount(router);
        var listen = config.listen();
        var http = shutdown.add(
                "http", BoundHttpServer.open(vertx, router, listen.host(), listen.httpPort(), "GPUFLEET_HTTP_PORT"));
        var service = new InventoryGrpc(inventory::committed, NodeViewMapper::wire);
        var grpc = shutdown.add(
                "grpc",
                InventoryGrpcServer.open(
                        vertx, service, () -> engine.readinessFailures().isEmpty(), listen.host(), listen.grpcPort()));
        LOG.atInfo()
                .addKeyValue("http", http.port())
                .addKeyValue("grpc", grpc.port())
                .log("serving");
        return new RunningReplica(http.port(), grpc.port(), () -> engine.role().name());
    }

    private static void register(ProjectionMeter meter, ProjectionEngine engine, InventoryMetrics metrics) {
        LongSupplier value = () -> meter.reader().applyAsLong(engine);
        if (meter.monotonic()) {
            metrics.counter(meter.name(), meter.description(), value);
        } else {
            metrics.gauge(meter.name(), meter.description(), value);
        }
    }
}
