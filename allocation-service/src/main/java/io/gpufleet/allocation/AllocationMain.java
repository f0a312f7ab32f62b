package io.gpufleet.allocation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.allocation.app.ClusterException;
import io.gpufleet.allocation.app.LedgerBook;
import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.app.PodReporter;
import io.gpufleet.allocation.app.QuotaBook;
import io.gpufleet.allocation.app.QuotaDesk;
import io.gpufleet.allocation.app.QuotaTerm;
import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.allocation.app.ReviewRouter;
import io.gpufleet.allocation.config.AllocationConfig;
import io.gpufleet.allocation.grpc.AdmissionDoor;
import io.gpufleet.allocation.grpc.AdmissionForward;
import io.gpufleet.allocation.http.AllocationMetrics;
import io.gpufleet.allocation.http.AllocationRoutes;
import io.gpufleet.allocation.kafka.AllocationFolder;
import io.gpufleet.allocation.kafka.PodFactSender;
import io.gpufleet.allocation.kafka.UsageReader;
import io.gpufleet.allocation.kubernetes.CertificateSecret;
import io.gpufleet.allocation.kubernetes.ClusterWatch;
import io.gpufleet.allocation.kubernetes.KubernetesCluster;
import io.gpufleet.allocation.kubernetes.KubernetesDoor;
import io.gpufleet.allocation.kubernetes.WebhookRegistration;
import io.gpufleet.allocation.model.quota.NodeFacts;
import io.gpufleet.allocation.webhook.AdmissionReviews;
import io.gpufleet.allocation.webhook.Certificates;
import io.gpufleet.allocation.webhook.ServingCertificate;
import io.gpufleet.allocation.webhook.WebhookDoor;
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
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The allocation-service: who held what, and who may have more. */
public final class AllocationMain {
    private static final Logger LOG = LoggerFactory.getLogger(AllocationMain.class);
    private static final long RETRY_SECONDS = 2;

    private final AllocationConfig config;
    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();
    private final AtomicReference<Optional<FoldEngine>> fold = new AtomicReference<>(Optional.empty());
    private final AtomicReference<Optional<ServingCertificate>> serving = new AtomicReference<>(Optional.empty());

    private AllocationMain(AllocationConfig config, Shutdown shutdown) {
        this.config = config;
        this.shutdown = shutdown;
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run("allocation-service", arguments, System.getenv(), AllocationConfig.SETTINGS, AllocationMain::start);
    }

    /** Starts one replica; what it opened is closed by the shutdown. */
    static void start(Environment environment, Shutdown shutdown) {
        new AllocationMain(AllocationConfig.from(environment), shutdown).run(System.getenv());
    }

    private void run(Map<String, String> environment) {
        Vertx vertx = Vertx.vertx();
        shutdown.add(
                "vertx",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        KubernetesClient client = shutdown.add("kubernetes", KubernetesDoor.open(environment));
        var codec = new Codec(config.cluster(), new Topics(config.topicPrefix()));
        var signals = shutdown.add(
                "signals",
                EventSender.open(
                        config.kafka(), codec, new Source.Service(config.cluster(), config.instance()), clock));
        var quotaBook = new QuotaBook();
        var term = new QuotaTerm(
                new KubernetesCluster(client, clock), quotaBook, config.instance(), clock, System::nanoTime);
        QuotaDesk desk = shutdown.add("quota desk", new QuotaDesk(term, quotaBook, System::nanoTime));
        var reporter = new PodReporter(new PodFactSender(signals, clock));
        var ledger = new LedgerBook(config.cluster(), (node, models) -> desk.tell(book -> book.models(node, models)));
        ClusterWatch watch = shutdown.add("watch", ClusterWatch.open(client, new Seen(desk, reporter)));
        var reviews = new AdmissionReviews(desk);
        AdmissionDoor grpc = shutdown.add(
                "grpc", AdmissionDoor.open(vertx, reviews, desk::decides, config.host(), config.grpcPort()));
        FoldEngine engine = shutdown.add("fold", engine(codec, ledger, desk, reporter, grpc.port()));
        fold.set(Optional.of(engine));
        webhook(vertx, client, desk, reviews, engine);
        serve(vertx, codec, desk, ledger, watch);
    }

    private FoldEngine engine(Codec codec, LedgerBook ledger, QuotaDesk desk, PodReporter reporter, int grpcPort) {
        var settings = new FoldSettings(
                "allocation-service",
                config.instance(),
                config.kafka(),
                reachable(config.host()) + ":" + grpcPort,
                config.sessionTimeout());
        var acting = new AllocationFolder.Acting(
                () -> {
                    desk.activated();
                    reporter.activated();
                },
                reporter::deactivated);
        return FoldEngine.start(settings, codec, new AllocationFolder(ledger, acting), clock);
    }

    /** The address that other replicas reach; the one that is listened on, unless that is all of them. */
    private static String reachable(String host) {
        try {
            return host.equals("0.0.0.0") ? InetAddress.getLocalHost().getHostAddress() : host;
        } catch (UnknownHostException nameless) {
            return "127.0.0.1";
        }
    }

    private void webhook(Vertx vertx, KubernetesClient client, QuotaDesk desk, ReviewDoor reviews, FoldEngine engine) {
        var forward = shutdown.add("forward", new AdmissionForward(vertx));
        var router = new ReviewRouter(reviews, desk::decides, engine::activeAddress, forward::forward);
        var certificates = new Certificates(new CertificateSecret(client, config.namespace()), webhookNames(), clock);
        var registration = new WebhookRegistration(client, config.namespace(), config.webhookUrl());
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("webhook-keeper").daemon().factory());
        shutdown.add("webhook keeper", timer::shutdownNow);
        var ignored = timer.scheduleWithFixedDelay(
                () -> keep(vertx, router, certificates, desk, registration), 0, RETRY_SECONDS, TimeUnit.SECONDS);
    }

    private void keep(
            Vertx vertx,
            ReviewDoor reviews,
            Certificates certificates,
            QuotaDesk desk,
            WebhookRegistration registration) {
        try {
            if (serving.get().isEmpty()) {
                open(vertx, reviews, certificates);
            }
            if (desk.decides()) {
                serving.get().ifPresent(certificate -> registration.ensure(certificate.caPem()));
            }
        } catch (ClusterException | RuntimeException failed) {
            LOG.atWarn().addKeyValue("error", failed.getMessage()).log("webhook is not in order yet, trying again");
        }
    }

    private void open(Vertx vertx, ReviewDoor reviews, Certificates certificates) throws ClusterException {
        certificates.obtain().ifPresent(certificate -> {
            WebhookDoor door = shutdown.add(
                    "webhook",
                    WebhookDoor.open(vertx, reviews, certificate, config.webhookHost(), config.webhookPort()));
            serving.set(Optional.of(certificate));
            LOG.atInfo().addKeyValue("port", door.port()).log("webhook serves");
        });
    }

    private Set<String> webhookNames() {
        Set<String> names = new TreeSet<>();
        names.add(WebhookRegistration.SERVICE + "." + config.namespace() + ".svc");
        if (!config.webhookUrl().isEmpty()) {
            names.add(URI.create(config.webhookUrl()).getHost());
        }
        return names;
    }

    private void serve(Vertx vertx, Codec codec, QuotaDesk desk, LedgerBook ledger, ClusterWatch watch) {
        var metrics = new AllocationMetrics(ledger);
        fold.get().ifPresent(engine -> measure(metrics, engine));
        metrics.gauge("gpufleet_decides", "1 on the replica that decides on quotas", () -> desk.decides() ? 1 : 0);
        Router router = Router.router(vertx);
        OpsRoutes.mount(
                router,
                () -> fold.get().flatMap(FoldEngine::failure).stream().toList(),
                () -> notReady(desk, watch),
                metrics::scrape);
        var threads = shutdown.add("readers", Executors.newVirtualThreadPerTaskExecutor());
        new AllocationRoutes(desk::views, ledger, new UsageReader(config.kafka(), codec), threads, clock).mount(router);
        HttpDoor http = shutdown.add(
                "http", HttpDoor.open(vertx, router, config.host(), config.httpPort(), "GPUFLEET_HTTP_PORT"));
        LOG.atInfo().addKeyValue("http", http.port()).log("serving");
    }

    private List<String> notReady(QuotaDesk desk, ClusterWatch watch) {
        return Stream.of(
                        fold.get().map(FoldEngine::notReady).orElse(List.of()),
                        desk.notReady(),
                        watch.notReady(),
                        serving.get().isPresent() ? List.<String>of() : List.of("webhook has no certificate yet"))
                .flatMap(List::stream)
                .toList();
    }

    private static void measure(AllocationMetrics metrics, FoldEngine engine) {
        for (FoldMeter meter : FoldMeter.ALL) {
            LongSupplier value = () -> meter.reader().applyAsLong(engine);
            if (meter.rises()) {
                metrics.counter(meter.name(), meter.about(), value);
            } else {
                metrics.gauge(meter.name(), meter.about(), value);
            }
        }
    }

    /** What is seen of Kubernetes, to the desk and to the log. */
    private record Seen(QuotaDesk desk, PodReporter reporter) implements ClusterWatch.Listener {
        @Override
        public void podSeen(ObservedPod pod) {
            desk.tell(book -> book.pod(pod.ask()));
            reporter.seen(pod);
        }

        @Override
        public void podGone(ObservedPod pod) {
            desk.tell(book -> book.podGone(pod.ask().uid()));
            reporter.gone(pod);
        }

        @Override
        public void nodeSeen(NodeFacts node) {
            desk.tell(book -> book.node(node));
        }

        @Override
        public void nodeGone(String name) {
            desk.tell(book -> book.nodeGone(name));
        }

        @Override
        public void namespaceSeen(String name, Map<String, String> labels) {
            desk.tell(book -> book.namespace(name, labels));
        }

        @Override
        public void namespaceGone(String name) {
            desk.tell(book -> book.namespaceGone(name));
        }
    }
}
