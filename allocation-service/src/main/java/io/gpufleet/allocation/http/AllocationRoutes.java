package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.QuotaView;
import io.gpufleet.allocation.app.UsageSums;
import io.gpufleet.allocation.model.ledger.Holder;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.kit.web.ProblemDetails;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** {@code /v1/quotas}, {@code /v1/holdings} and {@code /v1/usage}. */
public final class AllocationRoutes {
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;
    private static final Duration DEFAULT_RANGE = Duration.ofDays(1);

    private final Supplier<CompletionStage<List<QuotaView>>> quotas;
    private final Ledger ledger;
    private final UsageSums usage;
    private final Executor blocking;
    private final Clock clock;

    /** {@code blocking} runs the reads of the log, which block. */
    public AllocationRoutes(
            Supplier<CompletionStage<List<QuotaView>>> quotas,
            Ledger ledger,
            UsageSums usage,
            Executor blocking,
            Clock clock) {
        this.quotas = quotas;
        this.ledger = ledger;
        this.usage = usage;
        this.blocking = blocking;
        this.clock = clock;
    }

    /** Mounts the three routes. */
    public void mount(Router router) {
        router.get("/v1/quotas")
                .handler(context -> quotas.get()
                        .thenAccept(views -> context.vertx()
                                .runOnContext(ignored -> answer(
                                        context,
                                        new JsonObject()
                                                .put(
                                                        "quotas",
                                                        new JsonArray(views.stream()
                                                                .map(AllocationRoutes::quota)
                                                                .toList()))))));
        router.get("/v1/holdings").handler(this::holdings);
        router.get("/v1/usage").handler(this::usage);
    }

    private static JsonObject quota(QuotaView view) {
        var limits = new JsonArray();
        view.limits().forEach(row -> {
            var holders = new JsonArray();
            row.used()
                    .holders()
                    .forEach(holder -> holders.add(
                            new JsonObject().put("pod", holder.pod()).put("gpus", holder.gpus())));
            limits.add(new JsonObject()
                    .put("model", row.model())
                    .put("limit", row.limit())
                    .put("used", row.used().gpus())
                    .put("carriedOver", row.used().carriedOver())
                    .put("escrow", row.escrow())
                    .put("holders", holders));
        });
        return new JsonObject()
                .put("name", view.name())
                .put("mode", view.mode())
                .put("leader", view.leader())
                .put("limits", limits);
    }

    private void holdings(RoutingContext context) {
        String namespace = context.request().getParam("namespace", "");
        String node = context.request().getParam("node", "");
        var rows = new JsonArray();
        ledger.all().forEach((name, nodeLedger) -> {
            if (node.isEmpty() || node.equals(name)) {
                nodeLedger.open().values().stream()
                        .filter(open -> namespace.isEmpty()
                                || open.holding().holder().namespace().equals(namespace))
                        .forEach(open -> rows.add(holding(name, open)));
            }
        });
        answer(context, new JsonObject().put("holdings", rows));
    }

    private static JsonObject holding(String node, OpenUsageInterval open) {
        Holder holder = open.holding().holder();
        return new JsonObject()
                .put("id", open.id())
                .put("node", node)
                .put("device", open.holding().device().slot().deviceUuid())
                .put("replica", open.holding().device().slot().replica())
                .put("shareOf", open.holding().device().shareOf())
                .put("model", open.holding().device().shortModel())
                .put("migProfile", open.holding().device().migProfile())
                .put("resource", holder.resource())
                .put("namespace", holder.namespace())
                .put("pod", holder.pod())
                .put("podUid", holder.podUid())
                .put("container", holder.container())
                .put("from", open.from().toString())
                .put("quality", open.quality().name().toLowerCase(Locale.ROOT).replace('_', '-'));
    }

    private void usage(RoutingContext context) {
        Instant to;
        Instant from;
        try {
            String end = context.request().getParam("to", "");
            String start = context.request().getParam("from", "");
            to = end.isEmpty() ? clock.instant() : Instant.parse(end);
            from = start.isEmpty() ? to.minus(DEFAULT_RANGE) : Instant.parse(start);
        } catch (DateTimeException unreadable) {
            ProblemDetails.respond(
                    context,
                    BAD_REQUEST,
                    "not a time",
                    "from and to take RFC 3339 times in UTC, for example 2026-11-20T00:00:00Z: "
                            + unreadable.getMessage());
            return;
        }
        blocking.execute(() -> {
            try {
                var rows = new JsonArray();
                usage.between(from, to)
                        .forEach(row -> rows.add(new JsonObject()
                                .put("namespace", row.namespace())
                                .put("model", row.model())
                                .put("quality", row.quality())
                                .put("gpuSeconds", row.gpuSeconds())
                                .put("intervals", row.intervals())));
                var body = new JsonObject()
                        .put("from", from.toString())
                        .put("to", to.toString())
                        .put("usage", rows);
                context.vertx().runOnContext(ignored -> answer(context, body));
            } catch (IOException failed) {
                context.vertx()
                        .runOnContext(ignored -> ProblemDetails.respond(
                                context, UNAVAILABLE, "usage cannot be read", String.valueOf(failed.getMessage())));
            }
        });
    }

    private static void answer(RoutingContext context, JsonObject body) {
        context.response().putHeader("content-type", "application/json").end(body.encode());
    }
}
