package io.gpufleet.bench.projection;

import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.VertxInstance;
import io.gpufleet.runtime.bus.BusConfig;
import io.gpufleet.runtime.bus.ProjectionMetrics;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.StateListener;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.time.Clock;

/** A service with a projection that does almost nothing: what remains of the cost of a service is that of the engine. */
public final class FloorMain {
    private FloorMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        Program.run(FloorProcess.NAME, arguments, System.getenv(), FloorProcess.settings(), FloorMain::start);
    }

    private static void start(Environment environment, Shutdown shutdown) {
        var engine = shutdown.add(
                "projection",
                ProjectionEngine.start(
                        BusConfig.from(environment)
                                .engine(FloorProcess.NAME, "", Clock.systemUTC(), FurtherTopics.NONE),
                        new FloorProjection(),
                        Actor.none(),
                        StateListener.none(),
                        line -> Program.fail(FloorProcess.NAME, line)));
        var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        ProjectionMetrics.register(registry, engine);
        Vertx vertx = VertxInstance.open();
        shutdown.add(
                "Vert.x",
                () -> vertx.close().toCompletionStage().toCompletableFuture().get());
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, () -> engine.failure().stream().toList(), engine::readinessFailures, registry::scrape);
        int port = environment.integer(FloorProcess.PORT, 0, 65_535);
        shutdown.add("HTTP", BoundHttpServer.open(vertx, router, "127.0.0.1", port, FloorProcess.PORT));
    }
}
