package io.gpufleet.health;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.app.HealthCore;
import io.gpufleet.health.app.MarksStep;
import io.gpufleet.health.app.ReconcileCounters;
import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.config.HealthConfig;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.http.HealthMetrics;
import io.gpufleet.health.http.HealthRoutes;
import io.gpufleet.health.kafka.HealthFolder;
import io.gpufleet.health.kafka.SignalSender;
import io.gpufleet.health.kubernetes.KubernetesAuthority;
import io.gpufleet.health.kubernetes.KubernetesDoor;
import io.gpufleet.health.kubernetes.KubernetesNodes;
import io.gpufleet.health.kubernetes.NodeEvents;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.HttpDoor;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventSender;
import io.gpufleet.wire.Source;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TopicsException;
import io.gpufleet.wire.fold.FoldEngine;
import io.gpufleet.wire.fold.FoldMeter;
import io.gpufleet.wire.fold.FoldSettings;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The health-service: what may be trusted, and the marks that Nodes wear for it. */
public final class HealthMain {
    private static final Logger LOG = LoggerFactory.getLogger(HealthMain.class);
    /** A mark missing at two looks this far apart was taken away by an operator. */
    private static final Duration SECOND_LOOK = Duration.ofSeconds(10);

    private final HealthConfig config;
    private final Shutdown shutdown;
    private final Clock clock = Clock.systemUTC();

    private HealthMain(HealthConfig config, Shutdown shutdown) {
        this.config = config;
        this.shutdown = shutdown;
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run("health-service", arguments, System.getenv(), HealthConfig.settings(), HealthMain::start);
    }

    private static void start(Environment environment, Shutdown shutdown) {
        new HealthMain(HealthConfig.of(environment), shutdown).start();
    }

    private void start() {
        var core = new HealthCore(new HealthMachine(PolicyFile.load(config.policy()), config.maxActionAge()));
        Codec codec = new Codec(config.cluster(), topics());
        checkTopics(codec.topics());
        KubernetesClient client = shutdown.add(
                "Kubernetes client", KubernetesDoor.open(Objects.requireNonNullElse(System.getenv("KUBECONFIG"), "")));
        NodeEvents events = shutdown.add("Events", new NodeEvents(client, clock));
        KubernetesNodes nodes = shutdown.add("watch of Nodes", new KubernetesNodes(client, events, clock));
        EventSender sender = shutdown.add(
                "signals",
                EventSender.open(
                        config.bootstrap(), codec, new Source.Service(config.cluster(), config.instance()), clock));
        var signals = new SignalSender(sender, clock);
        var counters = new ReconcileCounters();
        Reconciler reconciler = shutdown.add(
                "reconciler",
                new Reconciler(
                        new MarksStep(nodes, signals, counters, clock, SECOND_LOOK),
                        signals,
                        config.reconcileInterval()));
        nodes.watch(reconciler);
        FoldEngine engine = shutdown.add(
                "fold",
                FoldEngine.start(
                        new FoldSettings(
                                "health-service", config.instance(), config.bootstrap(), "", config.sessionTimeout()),
                        codec,
                        new HealthFolder(core, reconciler),
                        clock));

        var metrics = new HealthMetrics(core, counters);
        fold(metrics, engine);
        Vertx vertx = Vertx.vertx();
        shutdown.add(
                "Vert.x",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        Router router = Router.router(vertx);
        OpsRoutes.mount(
                router,
                () -> engine.failure().stream().toList(),
                () -> Stream.of(engine.notReady(), nodes.notReady())
                        .flatMap(List::stream)
                        .toList(),
                metrics::scrape);
        new HealthRoutes(vertx, core, reconciler, signals, new KubernetesAuthority(client)).mount(router);
        HttpDoor door = shutdown.add(
                "HTTP",
                HttpDoor.open(vertx, router, config.http().host(), config.http().port(), "GPUFLEET_HTTP_PORT"));
        LOG.atInfo().addKeyValue("port", door.port()).log("HTTP is served");
    }

    private Topics topics() {
        try {
            return new Topics(config.topicPrefix());
        } catch (IllegalArgumentException unusable) {
            throw new ConfigurationException("GPUFLEET_TOPIC_PREFIX: " + unusable.getMessage());
        }
    }

    /** Topics that are missing or have another number of partitions stop the start; a broker that is away is waited for. */
    private void checkTopics(Topics topics) {
        try {
            TopicAdmin.check(config.bootstrap(), topics)
                    .forEach(line ->
                            LOG.atWarn().addKeyValue("difference", line).log("topic differs from the catalogue"));
        } catch (TopicsException unusable) {
            String line = String.valueOf(unusable.getMessage());
            if (!unusable.brokerIsAway()) {
                throw new ConfigurationException(line);
            }
            LOG.atWarn().addKeyValue("reason", line).log("topics not checked, the broker is waited for");
        }
    }

    private static void fold(HealthMetrics metrics, FoldEngine engine) {
        for (FoldMeter meter : FoldMeter.ALL) {
            if (meter.rises()) {
                metrics.counter(meter.name(), meter.about(), engine, meter.reader()::applyAsLong);
            } else {
                metrics.gauge(meter.name(), meter.about(), engine, meter.reader()::applyAsLong);
            }
        }
    }
}
