package io.gpufleet.allocation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.allocation.app.AdmissionReviewHandler;
import io.gpufleet.allocation.app.AdmissionReviewRouter;
import io.gpufleet.allocation.app.ClusterEventRouter;
import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.PodEndReporter;
import io.gpufleet.allocation.app.QuotaDecider;
import io.gpufleet.allocation.app.QuotaLeader;
import io.gpufleet.allocation.app.WebhookReconciler;
import io.gpufleet.allocation.config.AllocationConfig;
import io.gpufleet.allocation.grpc.AdmissionGrpcClient;
import io.gpufleet.allocation.grpc.AdmissionGrpcServer;
import io.gpufleet.allocation.http.AllocationMetrics;
import io.gpufleet.allocation.http.AllocationRoutes;
import io.gpufleet.allocation.kafka.AllocationProjection;
import io.gpufleet.allocation.kafka.KafkaPodFactPublisher;
import io.gpufleet.allocation.kafka.UsageReader;
import io.gpufleet.allocation.kubernetes.CertificateSecret;
import io.gpufleet.allocation.kubernetes.ClusterWatch;
import io.gpufleet.allocation.kubernetes.KubernetesClients;
import io.gpufleet.allocation.kubernetes.KubernetesQuotaClient;
import io.gpufleet.allocation.kubernetes.WebhookRegistration;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.webhook.CertificateIssuer;
import io.gpufleet.allocation.webhook.QuotaAdmissionHandler;
import io.gpufleet.allocation.webhook.WebhookServer;
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
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Main class of the allocation-service: makes its parts and connects them. */
public final class AllocationMain {
    private static final Logger LOG = LoggerFactory.getLogger(AllocationMain.class);

    private final AllocationConfig config;
    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();

    private AllocationMain(AllocationConfig config, Shutdown shutdown) {
        this.config = config;
        this.shutdown = shutdown;
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run("allocation-service", arguments, System.getenv(), AllocationConfig.SETTINGS, AllocationMain::start);
    }

    /** Starts one replica; the shutdown closes what it opened. */
    static void start(Environment environment, Shutdown shutdown) {
        new AllocationMain(AllocationConfig.from(environment), shutdown).run();
    }

    private void run() {
        Vertx vertx = Vertx.vertx();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        KubernetesClient client = shutdown.add("kubernetes", KubernetesClients.open(System.getenv()));
        var codec = new Codec(config.cluster(), new Topics(config.kafka().topicPrefix()));
        var sender = shutdown.add("event sender", eventSender(codec));
        var leader =
                new QuotaLeader(new KubernetesQuotaClient(client, clock), config.instance(), clock, System::nanoTime);
        var decider = shutdown.add("quota decider", new QuotaDecider(leader, System::nanoTime));
        var podEnds = new PodEndReporter(new KafkaPodFactPublisher(sender, clock));
        var ledger = new Ledger(
                config.cluster(), (node, models) -> decider.observe(new QuotaEvent.GpuModelsAnnounced(node, models)));
        var watch = shutdown.add("informers", ClusterWatch.open(client, new ClusterEventRouter(decider, podEnds)));
        var handler = new QuotaAdmissionHandler(decider);
        var grpc = shutdown.add("grpc", grpcServer(vertx, handler, decider));
        var engine = shutdown.add("projection", engine(codec, ledger, decider, podEnds, grpc.advertisedAddress()));
        var forward = shutdown.add("admission client", new AdmissionGrpcClient(vertx));
        var reviews = new AdmissionReviewRouter(handler, decider::isLeader, engine::activeAddress, forward::forward);
        var webhook = shutdown.add("webhook reconciler", webhook(vertx, client, reviews, decider));
        var metrics = new AllocationMetrics(ledger, decider::isLeader);
        ProjectionMeter.ALL.forEach(meter -> metrics.register(
                meter.name(),
                meter.description(),
                meter.monotonic(),
                () -> meter.reader().applyAsLong(engine)));
        var router = Router.router(vertx);
        OpsRoutes.mount(
                router,
                () -> engine.failure().stream().toList(),
                () -> Stream.of(
                                engine.readinessFailures(),
                                decider.readinessFailures(),
                                watch.readinessFailures(),
                                webhook.readinessFailures())
                        .flatMap(List::stream)
                        .toList(),
                metrics::scrape);
        var readers = shutdown.add("readers", Executors.newVirtualThreadPerTaskExecutor());
        var usage = new UsageReader(config.kafka().bootstrap(), codec);
        new AllocationRoutes(decider::views, ledger, usage, readers, clock).mount(router);
        var http = shutdown.add("http", httpServer(vertx, router));
        LOG.atInfo().addKeyValue("http", http.port()).log("HTTP listening");
    }

    private EventSender eventSender(Codec codec) {
        return EventSender.open(
                config.kafka().bootstrap(), codec, new EventSource.Service(config.cluster(), config.instance()), clock);
    }

    private AdmissionGrpcServer grpcServer(Vertx vertx, AdmissionReviewHandler handler, QuotaDecider decider) {
        var servers = config.servers();
        return AdmissionGrpcServer.open(vertx, handler, decider::isLeader, servers.host(), servers.grpcPort());
    }

    private ProjectionEngine engine(
            Codec codec, Ledger ledger, QuotaDecider decider, PodEndReporter podEnds, String address) {
        var settings = new ProjectionSettings(
                "allocation-service",
                config.instance(),
                config.kafka().bootstrap(),
                address,
                config.kafka().sessionTimeout());
        var callbacks = new AllocationProjection.LeaderCallbacks(
                () -> {
                    decider.activated();
                    podEnds.activated();
                },
                podEnds::deactivated);
        return ProjectionEngine.start(settings, codec, new AllocationProjection(ledger, callbacks), clock);
    }

    private WebhookReconciler webhook(
            Vertx vertx, KubernetesClient client, AdmissionReviewHandler reviews, QuotaDecider decider) {
        var settings = config.webhook();
        return WebhookReconciler.start(
                new CertificateIssuer(
                        new CertificateSecret(client, settings.namespace()),
                        WebhookRegistration.serverNames(settings.namespace(), settings.url()),
                        clock),
                certificate -> shutdown.add(
                        "webhook", WebhookServer.open(vertx, reviews, certificate, settings.host(), settings.port())),
                new WebhookRegistration(client, settings.namespace(), settings.url()),
                decider::isLeader);
    }

    private BoundHttpServer httpServer(Vertx vertx, Router router) {
        var servers = config.servers();
        return BoundHttpServer.open(vertx, router, servers.host(), servers.httpPort(), "GPUFLEET_HTTP_PORT");
    }
}
