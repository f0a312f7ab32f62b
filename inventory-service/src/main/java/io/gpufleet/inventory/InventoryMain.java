package io.gpufleet.inventory;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.inventory.app.Acting;
import io.gpufleet.inventory.app.ClusterActing;
import io.gpufleet.inventory.app.Inventory;
import io.gpufleet.inventory.app.LabelReconciler;
import io.gpufleet.inventory.config.InventoryConfig;
import io.gpufleet.inventory.grpc.GrpcDoor;
import io.gpufleet.inventory.grpc.InventoryGrpc;
import io.gpufleet.inventory.http.InventoryMetrics;
import io.gpufleet.inventory.http.InventoryRoutes;
import io.gpufleet.inventory.kafka.InventoryFolder;
import io.gpufleet.inventory.kafka.SignalSender;
import io.gpufleet.inventory.kafka.ViewMapper;
import io.gpufleet.inventory.kubernetes.KubernetesDoor;
import io.gpufleet.inventory.kubernetes.NodeWatch;
import io.gpufleet.inventory.kubernetes.ServerSideLabels;
import io.gpufleet.inventory.model.Keyframes;
import io.gpufleet.inventory.model.LabelSet;
import io.gpufleet.inventory.model.NodeLabels;
import io.gpufleet.inventory.model.SilenceRule;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.HttpDoor;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSender;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.fold.FoldEngine;
import io.gpufleet.wire.fold.FoldMeter;
import io.gpufleet.wire.fold.FoldSettings;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inventory-service: what exists in the fleet, and the labels that say so. */
public final class InventoryMain {
    private static final Logger LOG = LoggerFactory.getLogger(InventoryMain.class);
    private static final int WRITES_AT_ONCE = 16;
    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
    private static final Duration CONFLICT_RETRY = Duration.ofMinutes(5);

    private final InventoryConfig config;
    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();
    private final Inventory inventory = new Inventory(SilenceRule.STANDARD, new Keyframes(Keyframes.INTERVAL));

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

    /** One replica that runs, and where it answers. */
    record Running(int http, int grpc, Supplier<String> role) {}

    /** Starts one replica; what it opened is closed by the shutdown. {@code environment} names the kubeconfig. */
    static Running start(Environment settings, Shutdown shutdown, Map<String, String> environment) {
        return new InventoryMain(InventoryConfig.from(settings), shutdown).run(environment);
    }

    private Running run(Map<String, String> environment) {
        Vertx vertx = Vertx.vertx();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        var metrics = new InventoryMetrics(inventory::readable, inventory::suspected);
        KubernetesClient client = shutdown.add("kubernetes", KubernetesDoor.open(environment));
        var codec = new Codec(config.cluster(), new Topics(config.topicPrefix()));
        var signals = shutdown.add(
                "signals",
                EventSender.open(
                        config.kafka(), codec, new Source.Service(config.cluster(), config.instance()), clock));
        var observations = new SignalSender(signals, clock);
        var labels = new LabelReconciler(
                inventory::readable,
                new ServerSideLabels(client),
                observations,
                workers(),
                timer(),
                new LabelReconciler.Manner(config.labels(), FIRST_RETRY, CONFLICT_RETRY));
        FoldEngine engine =
                fold(codec, new ClusterActing(labels, observations, listeners -> NodeWatch.open(client, listeners)));
        return serve(vertx, engine, metrics);
    }

    private FoldEngine fold(Codec codec, Acting acting) {
        var running = new AtomicReference<FoldEngine>();
        var folder = new InventoryFolder(inventory, () -> caughtUp(running.get()), acting);
        var settings =
                new FoldSettings("inventory-service", config.instance(), config.kafka(), "", config.sessionTimeout());
        FoldEngine engine = shutdown.add("fold", FoldEngine.start(settings, codec, folder, clock));
        running.set(engine);
        return engine;
    }

    /** Heartbeats come every 10 s: less than a tenth of the fleet waiting is less than a second behind. */
    private boolean caughtUp(@Nullable FoldEngine engine) {
        return engine != null
                && engine.counters().lag() <= inventory.readable().nodes().size() / 10;
    }

    private static void measure(InventoryMetrics metrics, FoldEngine engine) {
        for (FoldMeter meter : FoldMeter.ALL) {
            LongSupplier value = () -> meter.reader().applyAsLong(engine);
            if (meter.rises()) {
                metrics.counter(meter.name(), meter.about(), value);
            } else {
                metrics.gauge(meter.name(), meter.about(), value);
            }
        }
    }

    private Running serve(Vertx vertx, FoldEngine engine, InventoryMetrics metrics) {
        measure(metrics, engine);
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, () -> engine.failure().stream().toList(), engine::notReady, metrics::scrape);
        new InventoryRoutes(
                        inventory::readable,
                        inventory::suspected,
                        node -> NodeLabels.of(node, config.labels())
                                .map(LabelSet::labels)
                                .orElse(Map.of()))
                .mount(router);
        var http = shutdown.add(
                "http", HttpDoor.open(vertx, router, config.host(), config.httpPort(), "GPUFLEET_HTTP_PORT"));
        var grpc = shutdown.add(
                "grpc",
                GrpcDoor.open(
                        vertx,
                        new InventoryGrpc(inventory::readable, ViewMapper::wire),
                        () -> engine.notReady().isEmpty(),
                        config.host(),
                        config.grpcPort()));
        LOG.atInfo()
                .addKeyValue("http", http.port())
                .addKeyValue("grpc", grpc.port())
                .log("serving");
        return new Running(http.port(), grpc.port(), () -> engine.role().name());
    }

    /** Blocking writes run on virtual threads, so many at once. */
    private Executor workers() {
        ExecutorService threads = shutdown.add("workers", Executors.newVirtualThreadPerTaskExecutor());
        var permits = new Semaphore(WRITES_AT_ONCE);
        return task -> threads.execute(() -> {
            permits.acquireUninterruptibly();
            try {
                task.run();
            } finally {
                permits.release();
            }
        });
    }

    private ScheduledExecutorService timer() {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("label-timer").daemon().factory());
        shutdown.add("timer", timer::shutdownNow);
        return timer;
    }
}
