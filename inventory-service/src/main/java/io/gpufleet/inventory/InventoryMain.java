package io.gpufleet.inventory;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.app.KubernetesActor;
import io.gpufleet.inventory.app.LabelDifferences;
import io.gpufleet.inventory.app.LabelReconciler;
import io.gpufleet.inventory.app.NodeTimers;
import io.gpufleet.inventory.app.SignalSink;
import io.gpufleet.inventory.config.InventoryConfig;
import io.gpufleet.inventory.grpc.InventoryGrpcServer;
import io.gpufleet.inventory.http.DashboardRoutes;
import io.gpufleet.inventory.http.FleetStream;
import io.gpufleet.inventory.http.InventoryMetrics;
import io.gpufleet.inventory.http.InventoryRoutes;
import io.gpufleet.inventory.kafka.FleetViewUpdater;
import io.gpufleet.inventory.kafka.InventoryProjection;
import io.gpufleet.inventory.kafka.NodeLabelActor;
import io.gpufleet.inventory.kafka.NodeViewMapper;
import io.gpufleet.inventory.kafka.SignalSender;
import io.gpufleet.inventory.kubernetes.KubernetesNodeWriter;
import io.gpufleet.inventory.kubernetes.NodeWatch;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.inventory.model.label.NodeLabels;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.kit.web.ServerTls;
import io.gpufleet.kit.web.VertxInstance;
import io.gpufleet.runtime.bus.BusConfig;
import io.gpufleet.runtime.bus.ProjectionMetrics;
import io.gpufleet.runtime.bus.TopicCheck;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.kubernetes.KubernetesClients;
import io.gpufleet.runtime.kubernetes.ReviewAuthorizer;
import io.gpufleet.runtime.kubernetes.ServiceTls;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.runtime.sender.EventSender;
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.WorkScheduler;
import io.gpufleet.wire.Topic;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inventory-service: projects the inventory of the fleet, serves it, and labels Nodes. */
public final class InventoryMain {
    /** Settings of the program. */
    static final List<Setting> SETTINGS = Stream.concat(
                    BusConfig.settings("inventory-service-0").stream(), InventoryConfig.SETTINGS.stream())
            .toList();

    private static final Logger LOG = LoggerFactory.getLogger(InventoryMain.class);
    private static final String NAME = "inventory-service";
    /** A page takes some milliseconds; what waits longer than a client's timeout is refused instead. */
    private static final int WAITING_REQUESTS = 256;

    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(64));
    private static final Duration CONFLICT_RETRY_INTERVAL = Duration.ofMinutes(5);

    private final BusConfig bus;
    private final InventoryConfig config;
    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();
    private final FleetView view = new FleetView();
    private final LabelDifferences differences = new LabelDifferences();

    private InventoryMain(Environment settings, Shutdown shutdown) {
        this.bus = BusConfig.from(settings);
        this.config = InventoryConfig.from(settings);
        this.shutdown = shutdown;
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Map<String, String> environment = System.getenv();
        Program.run(
                NAME, arguments, environment, SETTINGS, (settings, shutdown) -> start(settings, shutdown, environment));
    }

    /** A started replica: its ports and its role. */
    record RunningReplica(int http, int grpc, Supplier<String> role) {}

    /** Starts one replica, which the shutdown closes. {@code environment} names the kubeconfig. */
    static RunningReplica start(Environment settings, Shutdown shutdown, Map<String, String> environment) {
        return new InventoryMain(settings, shutdown).run(environment);
    }

    private RunningReplica run(Map<String, String> environment) {
        TopicCheck.run(bus);
        KubernetesClient client = shutdown.add(
                "kubernetes",
                KubernetesClients.connect(environment, "gpufleet-inventory", "list, watch and patch nodes"));
        Vertx vertx = VertxInstance.open();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        // The engine knows the sender's incarnation, and the sender's user is the engine's actor.
        var incarnation = new CompletableFuture<Long>();
        var sender = shutdown.add(
                "signals", EventSender.open(bus.kafka(), bus.codec(), bus.source(), Topic.NODES, incarnation, clock));
        ProjectionEngine<NodeState> engine = startEngine(actor(client, new SignalSender(sender, clock)));
        engine.writerIncarnation().thenAccept(incarnation::complete);
        return serve(
                vertx,
                new ServiceTls(NAME, clock, shutdown).open(config.listen().certificate(), client),
                engine,
                config.reads() == ReadsMode.KUBERNETES
                        ? new ReviewAuthorizer(client, System::nanoTime)
                        : Authorizer.everybody());
    }

    private KubernetesActor actor(KubernetesClient client, SignalSink signals) {
        var settings = new LabelReconciler.ReconcilerSettings(
                config.labels(), config.taints(), config.labelMode(), BACKOFF, CONFLICT_RETRY_INTERVAL);
        return new KubernetesActor(
                view::fleet,
                new KubernetesNodeWriter(client, Clock.systemUTC()),
                writer -> new LabelReconciler(
                        view::fleet, writer, signals, WorkScheduler.virtualThreads("labels"), settings, differences),
                signals,
                listeners -> NodeWatch.open(client, listeners));
    }

    private ProjectionEngine<NodeState> startEngine(KubernetesActor kubernetes) {
        var timers =
                new NodeTimers(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL), view::suspect);
        return shutdown.add(
                "projection",
                ProjectionEngine.start(
                        bus.engine(NAME, "", clock, new FurtherTopics(Set.of(Topic.SIGNALS), Set.of())),
                        new InventoryProjection(timers),
                        new NodeLabelActor(kubernetes, view),
                        new FleetViewUpdater(view),
                        line -> Program.fail(NAME, line)));
    }

    private RunningReplica serve(
            Vertx vertx, ServerTls tls, ProjectionEngine<NodeState> engine, Authorizer authorizer) {
        var metrics =
                new InventoryMetrics(view::summary, differences::nodes, () -> engine.role() == ReplicaRole.ACTIVE);
        ProjectionMetrics.register(metrics.registry(), engine);
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, () -> engine.failure().stream().toList(), engine::readinessFailures, metrics::scrape);
        var workers = shutdown.add(
                "queries",
                RequestWorkers.open(vertx, "queries", Runtime.getRuntime().availableProcessors(), WAITING_REQUESTS));
        new InventoryRoutes(view, workers, authorizer, node -> NodeLabels.labels(node, config.labels())).mount(router);
        DashboardRoutes.mount(router);
        BooleanSupplier ready = () -> engine.readinessFailures().isEmpty();
        var stream = FleetStream.open(view, ready, workers, vertx);
        stream.mount(router);
        var listen = config.listen();
        var http = shutdown.add(
                "http",
                BoundHttpServer.open(
                        vertx, tls.http(), router, listen.host(), listen.httpPort(), "GPUFLEET_HTTP_PORT"));
        shutdown.add("streams", stream);
        var grpc = shutdown.add(
                "grpc",
                InventoryGrpcServer.open(
                        vertx,
                        view::indexed,
                        NodeViewMapper::wire,
                        workers,
                        new InventoryGrpcServer.Access(authorizer, ready),
                        new InventoryGrpcServer.Listen(listen.host(), listen.grpcPort(), tls)));
        LOG.atInfo()
                .addKeyValue("http", http.port())
                .addKeyValue("grpc", grpc.port())
                .log("serving");
        return new RunningReplica(http.port(), grpc.port(), () -> engine.role().name());
    }
}
