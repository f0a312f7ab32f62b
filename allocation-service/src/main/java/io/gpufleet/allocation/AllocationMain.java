package io.gpufleet.allocation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.AdmissionProof;
import io.gpufleet.allocation.app.DailySummation;
import io.gpufleet.allocation.app.DailySums;
import io.gpufleet.allocation.app.KnownGpuResources;
import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.PodReporter;
import io.gpufleet.allocation.app.TermListener;
import io.gpufleet.allocation.app.UsageHistory;
import io.gpufleet.allocation.app.UsageLog;
import io.gpufleet.allocation.app.UsageSumReader;
import io.gpufleet.allocation.app.WebhookReconciler;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.allocation.app.quota.AdmissionReviewRetry;
import io.gpufleet.allocation.app.quota.ClusterEventRouter;
import io.gpufleet.allocation.app.quota.DeciderHealth;
import io.gpufleet.allocation.app.quota.ForwardingReviewHandler;
import io.gpufleet.allocation.app.quota.ModelsGate;
import io.gpufleet.allocation.app.quota.QuotaDecider;
import io.gpufleet.allocation.app.quota.QuotaElection;
import io.gpufleet.allocation.app.quota.QuotaExecutors;
import io.gpufleet.allocation.app.quota.QuotaLeader;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex;
import io.gpufleet.allocation.config.AllocationConfig;
import io.gpufleet.allocation.grpc.AdmissionGrpcClient;
import io.gpufleet.allocation.grpc.AdmissionGrpcServer;
import io.gpufleet.allocation.grpc.ReplicaTls;
import io.gpufleet.allocation.http.AllocationMetrics;
import io.gpufleet.allocation.http.AllocationRoutes;
import io.gpufleet.allocation.kafka.AllocationProjection;
import io.gpufleet.allocation.kafka.DailySumTopic;
import io.gpufleet.allocation.kafka.KafkaPodFactPublisher;
import io.gpufleet.allocation.kafka.LedgerViewUpdater;
import io.gpufleet.allocation.kafka.TermNotifyingActor;
import io.gpufleet.allocation.kafka.UsageFollower;
import io.gpufleet.allocation.kubernetes.CertificateSecret;
import io.gpufleet.allocation.kubernetes.ClusterWatch;
import io.gpufleet.allocation.kubernetes.KubernetesLease;
import io.gpufleet.allocation.kubernetes.KubernetesQuotaClient;
import io.gpufleet.allocation.kubernetes.KubernetesResourceQuotas;
import io.gpufleet.allocation.kubernetes.ListClient;
import io.gpufleet.allocation.kubernetes.WebhookRegistration;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.webhook.CertificateIssuer;
import io.gpufleet.allocation.webhook.QuotaAdmissionHandler;
import io.gpufleet.allocation.webhook.WebhookServer;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.kit.web.VertxInstance;
import io.gpufleet.runtime.bus.BusConfig;
import io.gpufleet.runtime.bus.ProjectionMetrics;
import io.gpufleet.runtime.bus.TopicCheck;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.kubernetes.KubernetesClients;
import io.gpufleet.runtime.kubernetes.ReviewAuthorizer;
import io.gpufleet.runtime.kubernetes.ServiceTls;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.sender.EventSender;
import io.gpufleet.wire.Topic;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Main class of the allocation-service: makes its parts and connects them. */
public final class AllocationMain {
    private static final Logger LOG = LoggerFactory.getLogger(AllocationMain.class);
    private static final String NAME = "allocation-service";
    private static final FurtherTopics TOPICS =
            new FurtherTopics(Set.of(Topic.SIGNALS, Topic.USAGE_DAILY), Set.of(Topic.USAGE, Topic.USAGE_DAILY));
    private static final int CONCURRENT_CALLS = 8;
    private static final int BACKGROUND_CALLS = 4;
    private static final int WAITING_READS = 256;
    /** Questions about usage that are answered at once, whatever the number of cores: each takes up to 50 MiB. */
    private static final int USAGE_READERS = 2;

    /** Of the heap, for intervals of usage. */
    private static final int USAGE_PART = 4;

    private static final long MAX_DAILY_PART_BYTES = 48L << 20;
    private static final List<Setting> SETTINGS = Stream.of(BusConfig.settings(NAME + "-0"), AllocationConfig.SETTINGS)
            .flatMap(List::stream)
            .toList();

    private final AllocationConfig config;
    private final BusConfig bus;
    /** That no other process has, though it may have the same instance name. */
    private final String identity;

    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();
    private final AdmissionProof proof = new AdmissionProof(clock);
    private final ReplicaTls tls = new ReplicaTls(clock);
    private final ActiveLease active = new ActiveLease();
    private final ActiveLease quotaLease = new ActiveLease();
    private final DeciderHealth health = new DeciderHealth(System::nanoTime);
    private final KnownGpuResources resources;
    private final Vertx vertx;
    private final KubernetesClient client;
    private final KubernetesClient lists;

    private AllocationMain(Environment environment, Shutdown shutdown) {
        this.config = AllocationConfig.from(environment);
        this.bus = BusConfig.from(environment);
        this.identity = bus.instance() + "_" + UUID.randomUUID();
        this.resources = new KnownGpuResources(GpuResources.NONE.with(config.gpuResources()));
        this.shutdown = shutdown;
        TopicCheck.run(bus);
        this.client = shutdown.add(
                "kubernetes",
                KubernetesClients.connect(
                        System.getenv(),
                        "gpufleet-" + NAME + "/" + BuildInfo.current().version(),
                        "list and watch nodes, pods and gpuquotas"));
        this.lists = shutdown.add("kubernetes lists", ListClient.like(client));
        this.vertx = VertxInstance.open();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run(NAME, arguments, System.getenv(), SETTINGS, AllocationMain::start);
    }

    /** Starts one replica; the shutdown closes what it opened. */
    static void start(Environment environment, Shutdown shutdown) {
        new AllocationMain(environment, shutdown).run();
    }

    private void run() {
        var incarnation = new CompletableFuture<Long>();
        var sender = shutdown.add(
                "event sender",
                EventSender.open(bus.kafka(), bus.codec(), bus.source(), Topic.HOLDINGS, incarnation, clock));
        var decider = decider();
        decider.observe(new QuotaEvent.GpuResourcesKnown(config.gpuResources()));
        var ledger = new Ledger(announced -> {
            resources.announced(announced.values());
            decider.gpusAnnounced(announced);
        });
        var podReporter = shutdown.add(
                "pod reporter",
                PodReporter.start(
                        new KafkaPodFactPublisher(sender::send, active, clock),
                        config.usageLabels(),
                        ledger::knowsPod));
        var events = new ClusterEventRouter(decider, podReporter, resources);
        var watch = shutdown.add("informers", ClusterWatch.open(lists, events, resources));
        var handler = new QuotaAdmissionHandler(decider);
        var grpc = shutdown.add("grpc", grpcServer(handler, decider));
        var engine = shutdown.add("projection", engine(ledger, List.of(podReporter), grpc.advertisedAddress()));
        var _ = engine.writerIncarnation().thenAccept(incarnation::complete);
        var election = shutdown.add("quota election", election(decider, grpc.advertisedAddress()));
        var models = shutdown.add(
                "models", ModelsGate.start(() -> engine.readinessFailures().isEmpty(), decider));
        // Closed before the election: it lowers the escrow while the lease is held.
        shutdown.add("quota decider", decider);
        var forward = shutdown.add("admission client", new AdmissionGrpcClient(vertx, tls));
        var reviews =
                new ForwardingReviewHandler(handler, decider::isLeader, election::leaderAddress, forward::forward);
        var retried = new AdmissionReviewRetry(
                reviews,
                CompletableFuture.delayedExecutor(AdmissionReviewRetry.PAUSE.toMillis(), TimeUnit.MILLISECONDS),
                System::nanoTime);
        var server = shutdown.add("webhook", webhookServer(retried));
        var webhook = shutdown.add("webhook reconciler", webhook(server, decider, grpc.advertisedHost()));
        var usage = new UsageLog(ledger, clock, Runtime.getRuntime().maxMemory() / USAGE_PART);
        shutdown.add("usage follower", UsageFollower.start(bus.kafka(), bus.codec(), usage, clock));
        var router = Router.router(vertx);
        List<Supplier<List<String>>> admission =
                List.of(decider::readinessFailures, watch::readinessFailures, webhook::readinessFailures);
        List<Supplier<List<String>>> ledgers = List.of(engine::readinessFailures, usage::readinessFailures);
        List<Supplier<List<String>>> readiness =
                Stream.of(ledgers, admission).flatMap(List::stream).toList();
        var metrics = metrics(ledger, decider, engine);
        metrics.webhookCertificate(server::certificateExpiry);
        metrics.quotas(decider::views);
        decider.timings(metrics.reviewTimings());
        operations(router, engine, readiness, metrics);
        // What Kafka lacks is no reason once the models are known: a replica that the kubelet takes for unready gets no
        // reviews.
        OpsRoutes.mountCheck(router, "admission", () -> lines(models.isOpen() ? admission : readiness));
        routes(ledger, decider, history(usage, sender)).mount(router);
        serve(router);
    }

    private UsageHistory history(UsageLog usage, EventSender sender) {
        var days = new DailySums(MAX_DAILY_PART_BYTES);
        shutdown.add("daily usage follower", DailySumTopic.follow(bus.kafka(), bus.codec(), days, clock));
        var publisher = DailySumTopic.publisher(sender::send, clock);
        shutdown.add("daily summation", new DailySummation(usage, days, active, publisher, clock).start());
        return new UsageHistory(usage, days);
    }

    private QuotaDecider decider() {
        var quotas = new KubernetesQuotaClient(client, lists, quotaLease, clock);
        var calls = calls("quota-call", CONCURRENT_CALLS);
        var background = calls("quota-background-call", BACKGROUND_CALLS);
        return new QuotaDecider(
                decider -> new QuotaLeader(
                        quotas,
                        identity,
                        quotaLease,
                        new QuotaExecutors(decider, calls, background),
                        clock,
                        System::nanoTime),
                health,
                System::nanoTime);
    }

    private ExecutorService calls(String name, int number) {
        return shutdown.add(
                name + "s",
                Executors.newFixedThreadPool(
                        number, Thread.ofVirtual().name(name + "-", 0).factory()));
    }

    private QuotaElection election(QuotaDecider decider, String address) {
        return QuotaElection.start(
                new KubernetesLease(client, config.webhook().namespace(), clock),
                new QuotaElection.Candidate(identity, address),
                active::held,
                quotaLease,
                decider,
                clock);
    }

    private AdmissionGrpcServer grpcServer(AdmissionReviewHandler handler, QuotaDecider decider) {
        var servers = config.servers();
        return AdmissionGrpcServer.open(
                vertx,
                new AdmissionGrpcServer.Decisions(handler, decider::isLeader),
                tls,
                servers.host(),
                servers.grpcPort());
    }

    private ProjectionEngine<NodeLedger> engine(Ledger ledger, List<TermListener> listeners, String address) {
        return ProjectionEngine.start(
                bus.engine(NAME, address, clock, TOPICS),
                new AllocationProjection(bus.cluster()),
                new TermNotifyingActor(active, listeners),
                new LedgerViewUpdater(ledger),
                line -> Program.fail(NAME, line));
    }

    private WebhookServer webhookServer(AdmissionReviewHandler reviews) {
        var settings = config.webhook();
        return new WebhookServer(vertx, reviews, proof, settings.host(), settings.port(), settings.clientCa());
    }

    private WebhookReconciler webhook(WebhookServer server, QuotaDecider decider, String replicaHost) {
        var settings = config.webhook();
        var certificates = new CertificateIssuer(
                new CertificateSecret(client, quotaLease, settings.namespace()),
                WebhookRegistration.serverNames(settings.namespace(), settings.url()),
                replicaHost,
                clock);
        var registration = new WebhookRegistration(
                client, quotaLease, settings.namespace(), settings.url(), proof::pathToken, resources);
        return WebhookReconciler.start(
                certificates,
                certificate -> {
                    tls.replace(certificate);
                    server.serve(certificate);
                },
                registration,
                decider::isLeader);
    }

    private AllocationMetrics metrics(Ledger ledger, QuotaDecider decider, ProjectionEngine<NodeLedger> engine) {
        var metrics = new AllocationMetrics(ledger, decider::isLeader, health::failures, BuildInfo.current());
        ProjectionMetrics.register(metrics.registry(), engine);
        return metrics;
    }

    private void operations(
            Router router,
            ProjectionEngine<NodeLedger> engine,
            List<Supplier<List<String>>> readiness,
            AllocationMetrics metrics) {
        OpsRoutes.mount(
                router,
                () -> Stream.concat(engine.failure().stream(), health.livenessFailures().stream())
                        .toList(),
                () -> lines(readiness),
                metrics::scrape);
    }

    private static List<String> lines(List<Supplier<List<String>>> failures) {
        return failures.stream().map(Supplier::get).flatMap(List::stream).toList();
    }

    private AllocationRoutes routes(Ledger ledger, QuotaDecider decider, UsageSumReader usage) {
        var readers = shutdown.add(
                "readers",
                RequestWorkers.open(vertx, "readers", Runtime.getRuntime().availableProcessors(), WAITING_READS));
        var usageReaders = shutdown.add(
                "usage readers", RequestWorkers.open(vertx, "usage-readers", USAGE_READERS, WAITING_READS));
        var authorizer = config.reads() == ReadsMode.KUBERNETES
                ? new ReviewAuthorizer(client, System::nanoTime)
                : Authorizer.everybody();
        var resourceQuotas = new ResourceQuotaIndex(
                new KubernetesResourceQuotas(lists, resources),
                decider::covering,
                calls("resource-quotas", 1),
                System::nanoTime);
        return new AllocationRoutes(
                new AllocationRoutes.Quotas(decider::views, resourceQuotas::byQuota),
                ledger,
                new AllocationRoutes.Usage(usage, config.usageLabels(), usageReaders),
                new AllocationRoutes.Access(authorizer, readers),
                clock);
    }

    private void serve(Router router) {
        var servers = config.servers();
        var certificate = new ServiceTls(NAME, clock, shutdown).open(servers.certificate(), client);
        var http = shutdown.add(
                "http",
                BoundHttpServer.open(
                        vertx, certificate.http(), router, servers.host(), servers.httpPort(), "GPUFLEET_HTTP_PORT"));
        LOG.atInfo().addKeyValue("http", http.port()).log("HTTP listening");
    }
}
