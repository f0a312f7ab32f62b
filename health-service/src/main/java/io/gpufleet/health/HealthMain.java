package io.gpufleet.health;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.IncidentStore;
import io.gpufleet.health.app.NodeReconciler;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.app.PodOwners;
import io.gpufleet.health.app.ReconcileCounters;
import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.app.ReloadedFile;
import io.gpufleet.health.app.ShadowPolicy;
import io.gpufleet.health.app.ShadowView;
import io.gpufleet.health.app.TimedNodeClient;
import io.gpufleet.health.app.VerdictToNodeLatency;
import io.gpufleet.health.app.drain.DrainStep;
import io.gpufleet.health.app.drain.Drainer;
import io.gpufleet.health.app.remediation.RemediationReconciler;
import io.gpufleet.health.app.remediation.Remediator;
import io.gpufleet.health.config.HealthConfig;
import io.gpufleet.health.http.HealthMetrics;
import io.gpufleet.health.http.HealthRoutes;
import io.gpufleet.health.http.ReadinessChecks;
import io.gpufleet.health.kafka.CommittedStates;
import io.gpufleet.health.kafka.DecisionFollower;
import io.gpufleet.health.kafka.HealthProjection;
import io.gpufleet.health.kafka.HistoryReader;
import io.gpufleet.health.kafka.PodOwnerFollower;
import io.gpufleet.health.kafka.ReconcilerActor;
import io.gpufleet.health.kafka.ShadowFollower;
import io.gpufleet.health.kafka.SignalSender;
import io.gpufleet.health.kubernetes.KubernetesNodeClient;
import io.gpufleet.health.kubernetes.KubernetesPodClient;
import io.gpufleet.health.kubernetes.KubernetesRemediationClient;
import io.gpufleet.health.kubernetes.NodeEventRecorder;
import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeBudgetShareCalculator;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.maintenance.Maintenance;
import io.gpufleet.health.model.remediation.RemediationAdmission;
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
import io.gpufleet.runtime.engine.EngineConfig;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.kubernetes.KubernetesClients;
import io.gpufleet.runtime.kubernetes.RequestCounts;
import io.gpufleet.runtime.kubernetes.RetryAfter;
import io.gpufleet.runtime.kubernetes.ReviewAuthorizer;
import io.gpufleet.runtime.kubernetes.ServiceTls;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.sender.EventSender;
import io.gpufleet.wire.Topic;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The health-service: decides which devices and nodes may be trusted, and patches Nodes accordingly. */
public final class HealthMain {
    private static final String NAME = "health-service";
    private static final Logger LOG = LoggerFactory.getLogger(HealthMain.class);
    private static final FurtherTopics TOPICS =
            new FurtherTopics(Set.of(Topic.SIGNALS), Set.of(Topic.SIGNALS, Topic.DECISIONS));
    /** An applied taint that is missing in two reads this far apart was removed manually. */
    private static final Duration OVERRIDE_CONFIRMATION = Duration.ofSeconds(10);

    /** How often the files of policy and pools are read again. */
    private static final Duration RELOAD = Duration.ofSeconds(2);

    /** A review takes some milliseconds; what waits longer than a client's timeout is refused instead. */
    private static final int WAITING_REQUESTS = 256;

    private static final int REQUEST_THREADS = 4;

    private HealthMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run(NAME, arguments, System.getenv(), settings(), HealthMain::start);
    }

    /** Settings of the program. */
    static List<Setting> settings() {
        return Stream.concat(BusConfig.settings(NAME + "-0").stream(), HealthConfig.settings().stream())
                .toList();
    }

    private static void start(Environment environment, Shutdown shutdown) {
        HealthConfig config = HealthConfig.of(environment);
        BusConfig bus = BusConfig.from(environment);
        Clock clock = Clock.systemUTC();
        HealthFiles files = HealthFiles.of(config);
        ReloadedFile<HealthMachine> policy = files.policy();
        TopicCheck.run(bus);

        var retryAfter = new RetryAfter(System::nanoTime);
        var requests = new RequestCounts();
        KubernetesClient client = shutdown.add("Kubernetes client", connect(retryAfter, requests));
        var lease = new CurrentLease();
        var backlog = new CatchUpStatus(HealthProjection::partitionOf);
        KubernetesNodeClient nodes = nodes(client, lease, clock, retryAfter, shutdown);

        var incarnation = new CompletableFuture<Long>();
        SignalSender signals = signals(bus, incarnation, clock, shutdown);

        var counters = new ReconcileCounters();
        var store = new NodeStateStore();
        var metrics = new HealthMetrics(store, counters, config.mode());
        var timings = new VerdictToNodeLatency(System::nanoTime, metrics.patchTimings());
        var timed = new TimedNodeClient(nodes, timings);
        Supplier<Optional<String>> freeze = () -> FleetCommandDecider.freeze(store.node(FleetCommandDecider.FLEET));
        EngineConfig engineConfig = bus.engine(NAME, "", clock, TOPICS);
        Clock brokersTime = engineConfig.brokerClock().corrected();
        var step = new NodeReconciler(timed, signals, lease, counters, brokersTime, patchSettings(files.pools()));
        Reconciler reconciler = shutdown.add(
                "reconciler",
                new Reconciler(step.pausedBy(freeze), signals, lease, timings, backlog, config.reconcileInterval()));
        nodes.watch(timed.before(reconciler));
        var acting = new Acting(lease, backlog, freeze, brokersTime);
        Drainer drainer = shutdown.add("drainer", drainer(client, signals, policy, acting));
        Remediator remediator = shutdown.add("remediator", remediator(client, signals, policy, acting));

        ProjectionEngine<NodeState> engine = shutdown.add(
                "projection",
                ProjectionEngine.start(
                        engineConfig,
                        new HealthProjection(policy, files.pools(), backlog),
                        new ReconcilerActor(reconciler, drainer, remediator),
                        new CommittedStates(store),
                        line -> Program.fail(NAME, line)));
        var _ = engine.writerIncarnation().thenAccept(incarnation::complete);
        ProjectionMetrics.register(metrics.registry(), engine);
        requests.register(metrics.registry());

        Vertx vertx = vertx(shutdown);
        Router router = Router.router(vertx);
        var readiness = ReadinessChecks.allOf(engine::readinessFailures, nodes::readinessFailures, files::problems);
        OpsRoutes.mount(router, () -> engine.failure().stream().toList(), readiness, metrics::scrape);
        HealthRoutes.Access access = access(config, client, vertx, shutdown);
        var seen = new Seen(store, metrics, engine);
        ShadowView shadow = shadow(config, bus, files, seen, shutdown);
        HealthRoutes.Sources sources = sources(bus, clock, seen, reconciler, shadow, shutdown);
        new HealthRoutes(sources, signals, access, clock).mount(router);
        vertx.setPeriodic(RELOAD.toMillis(), _ -> vertx.executeBlocking(() -> files.reload(config)));
        var tls = new ServiceTls(NAME, clock, shutdown).open(config.http().certificate(), client);
        listen(vertx, router, config.http(), tls, shutdown);
    }

    private static KubernetesNodeClient nodes(
            KubernetesClient client, CurrentLease lease, Clock clock, RetryAfter retryAfter, Shutdown shutdown) {
        NodeEventRecorder events = shutdown.add("Events", new NodeEventRecorder(client, lease, clock));
        return shutdown.add("Node informer", new KubernetesNodeClient(client, events, clock, retryAfter::remaining));
    }

    private static SignalSender signals(
            BusConfig bus, CompletableFuture<Long> incarnation, Clock clock, Shutdown shutdown) {
        EventSender sender = shutdown.add(
                "event sender",
                EventSender.open(bus.kafka(), bus.codec(), bus.source(), Topic.HEALTH_STATE, incarnation, clock));
        return new SignalSender(sender, clock);
    }

    private static HealthRoutes.Sources sources(
            BusConfig bus, Clock clock, Seen seen, Reconciler reconciler, ShadowView shadow, Shutdown shutdown) {
        var incidents = new IncidentStore();
        shutdown.add("decisions", DecisionFollower.start(bus.kafka(), bus.codec(), incidents, clock));
        var owners = new PodOwners();
        shutdown.add("pod owners", PodOwnerFollower.start(bus.kafka(), bus.codec(), owners, clock));
        return new HealthRoutes.Sources(
                seen.store(),
                incidents,
                owners,
                reconciler::outcome,
                seen.engine()::refusedAsStale,
                seen.engine()::missedFromServices,
                shadow);
    }

    private static KubernetesClient connect(RetryAfter retryAfter, RequestCounts requests) {
        return KubernetesClients.connect(
                System.getenv(), "gpufleet-health", "get, list, watch and patch nodes", retryAfter, requests);
    }

    private static NodeReconciler.Settings patchSettings(Supplier<DisruptionBudgets> pools) {
        return new NodeReconciler.Settings(
                OVERRIDE_CONFIRMATION,
                () -> Stream.concat(pools.get().labelKeys().stream(), Stream.of(Maintenance.KEY, NodeReference.MANAGED))
                        .collect(Collectors.toUnmodifiableSet()));
    }

    /**
     * When something may be done beside the writer.
     *
     * @param brokerTime what the projection compares intervals and deadlines with
     */
    private record Acting(
            CurrentLease lease, CatchUpStatus backlog, Supplier<Optional<String>> freeze, Clock brokerTime) {}

    private static Drainer drainer(
            KubernetesClient client, SignalSender signals, ReloadedFile<HealthMachine> policy, Acting acting) {
        var admission = new DrainAdmission();
        var step = new DrainStep(
                new KubernetesPodClient(client, acting.brokerTime()),
                signals,
                admission,
                () -> policy.get().policy().drain(),
                acting.lease(),
                acting.brokerTime());
        return new Drainer(step.pausedBy(acting.freeze()), admission, acting.backlog());
    }

    private static Remediator remediator(
            KubernetesClient client, SignalSender signals, ReloadedFile<HealthMachine> policy, Acting acting) {
        var admission = new RemediationAdmission();
        var step = new RemediationReconciler(
                new KubernetesRemediationClient(client),
                signals,
                admission,
                () -> policy.get().policy(),
                acting.lease(),
                acting.brokerTime());
        return new Remediator(step.pausedBy(acting.freeze()), admission, acting.backlog());
    }

    private static Vertx vertx(Shutdown shutdown) {
        Vertx vertx = VertxInstance.open();
        shutdown.add(
                "Vert.x",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        return vertx;
    }

    private static HealthRoutes.Access access(
            HealthConfig config, KubernetesClient client, Vertx vertx, Shutdown shutdown) {
        Authorizer reads = config.reads() == ReadsMode.KUBERNETES
                ? new ReviewAuthorizer(client, System::nanoTime)
                : Authorizer.everybody();
        return new HealthRoutes.Access(
                reads,
                ReviewAuthorizer.uncached(client),
                shutdown.add("requests", RequestWorkers.open(vertx, "requests", REQUEST_THREADS, WAITING_REQUESTS)));
    }

    /** Parts of the service that a shadow policy and the routes need. */
    private record Seen(NodeStateStore store, HealthMetrics metrics, ProjectionEngine<NodeState> engine) {}

    private static ShadowView shadow(
            HealthConfig config, BusConfig bus, HealthFiles files, Seen seen, Shutdown shutdown) {
        if (config.shadowPolicy().isEmpty()) {
            return ShadowView.OFF;
        }
        var shadow = new ShadowPolicy(new ShadowPolicy.Sources(
                files.policy(),
                files.shadowPolicy(),
                files.pools(),
                () -> NodeBudgetShareCalculator.of(seen.store().nodes())));
        seen.metrics().shadow(shadow);
        shutdown.add(
                "shadow policy",
                ShadowFollower.start(
                        new HistoryReader(bus.kafka(), bus.codec()),
                        shadow,
                        Clock.systemUTC(),
                        () -> seen.engine().readinessFailures().isEmpty()));
        return shadow;
    }

    private static void listen(Vertx vertx, Router router, HealthConfig.Http http, ServerTls tls, Shutdown shutdown) {
        BoundHttpServer server = shutdown.add(
                "HTTP",
                BoundHttpServer.open(vertx, tls.http(), router, http.host(), http.port(), "GPUFLEET_HTTP_PORT"));
        LOG.atInfo().addKeyValue("port", server.port()).log("HTTP server started");
    }
}
