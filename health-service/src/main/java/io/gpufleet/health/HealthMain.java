package io.gpufleet.health;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.app.NodePatchStep;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.app.ReconcileCounters;
import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.config.HealthConfig;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.http.HealthMetrics;
import io.gpufleet.health.http.HealthRoutes;
import io.gpufleet.health.http.ReadinessChecks;
import io.gpufleet.health.kafka.HealthProjection;
import io.gpufleet.health.kafka.ProjectionMetrics;
import io.gpufleet.health.kafka.SignalSender;
import io.gpufleet.health.kafka.VerifiedTopics;
import io.gpufleet.health.kubernetes.KubernetesAuthorizer;
import io.gpufleet.health.kubernetes.KubernetesClients;
import io.gpufleet.health.kubernetes.KubernetesNodeClient;
import io.gpufleet.health.kubernetes.NodeEventRecorder;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSender;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.projection.ProjectionEngine;
import io.gpufleet.wire.projection.ProjectionSettings;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The health-service: decides which devices and nodes may be trusted, and patches Nodes accordingly. */
public final class HealthMain {
    private static final Logger LOG = LoggerFactory.getLogger(HealthMain.class);
    /** An applied taint that is missing in two reads this far apart was removed manually. */
    private static final Duration OVERRIDE_CONFIRMATION = Duration.ofSeconds(10);

    private HealthMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run("health-service", arguments, System.getenv(), HealthConfig.settings(), HealthMain::start);
    }

    private static void start(Environment environment, Shutdown shutdown) {
        HealthConfig config = HealthConfig.of(environment);
        HealthConfig.Kafka kafka = config.kafka();
        Clock clock = Clock.systemUTC();
        var store = new NodeStateStore(new HealthMachine(PolicyFile.load(config.policy()), config.maxActionAge()));
        Codec codec = new Codec(kafka.cluster(), VerifiedTopics.of(kafka));

        KubernetesClient client = shutdown.add("Kubernetes client", KubernetesClients.open(System.getenv()));
        NodeEventRecorder events = shutdown.add("Events", new NodeEventRecorder(client, clock));
        KubernetesNodeClient nodes = shutdown.add("Node informer", new KubernetesNodeClient(client, events, clock));

        var source = new EventSource.Service(kafka.cluster(), kafka.instance());
        EventSender sender = shutdown.add("event sender", EventSender.open(kafka.bootstrap(), codec, source, clock));
        var signals = new SignalSender(sender, clock);

        var counters = new ReconcileCounters();
        var step = new NodePatchStep(nodes, signals, counters, clock, OVERRIDE_CONFIRMATION);
        Reconciler reconciler = shutdown.add("reconciler", new Reconciler(step, signals, config.reconcileInterval()));
        nodes.watch(reconciler);

        var settings = new ProjectionSettings(
                "health-service", kafka.instance(), kafka.bootstrap(), "", kafka.sessionTimeout());
        ProjectionEngine engine = shutdown.add(
                "projection", ProjectionEngine.start(settings, codec, new HealthProjection(store, reconciler), clock));

        var metrics = new HealthMetrics(store, counters);
        ProjectionMetrics.register(engine, metrics);

        Vertx vertx = Vertx.vertx();
        shutdown.add(
                "Vert.x",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        Router router = Router.router(vertx);
        OpsRoutes.mount(
                router,
                () -> engine.failure().stream().toList(),
                ReadinessChecks.allOf(engine::readinessFailures, nodes::readinessFailures),
                metrics::scrape);
        new HealthRoutes(vertx, store, reconciler, signals, new KubernetesAuthorizer(client)).mount(router);
        HealthConfig.Http http = config.http();
        BoundHttpServer server = shutdown.add(
                "HTTP", BoundHttpServer.open(vertx, router, http.host(), http.port(), "GPUFLEET_HTTP_PORT"));
        LOG.atInfo().addKeyValue("port", server.port()).log("HTTP server started");
    }
}
