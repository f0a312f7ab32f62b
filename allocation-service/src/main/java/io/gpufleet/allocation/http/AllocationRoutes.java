package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.UsageSumReader;
import io.gpufleet.allocation.app.quota.QuotaView;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex.ResourceLimit;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** {@code /v1/quotas}, {@code /v1/holdings} and {@code /v1/usage}. */
public final class AllocationRoutes {
    /** Authorizer of reads, and the threads that ask the API server. */
    public record Access(Authorizer authorizer, RequestWorkers workers) {}

    /**
     * Source of the answers about quotas.
     *
     * @param views all quotas with their usage
     * @param resourceLimits what ResourceQuotas limit beside them, by name of the quota
     */
    public record Quotas(
            Supplier<CompletionStage<List<QuotaView>>> views,
            Supplier<CompletionStage<Map<String, List<ResourceLimit>>>> resourceLimits) {}

    /**
     * Source of the sums of usage.
     *
     * @param labels keys of the labels that it can be grouped by
     * @param workers threads that add up, few: each question takes memory, and the others need not wait for it
     */
    public record Usage(UsageSumReader sums, Set<String> labels, RequestWorkers workers) {}

    private final Quotas quotas;
    private final HoldingsRoute holdings;
    private final UsageRoute usage;
    private final Authorizer authorizer;
    private final RequestWorkers workers;

    /** {@code access} decides who may read what; its workers build the answers too, which may take a while. */
    public AllocationRoutes(Quotas quotas, Ledger ledger, Usage usage, Access access, Clock clock) {
        this.quotas = quotas;
        this.authorizer = access.authorizer();
        this.workers = access.workers();
        this.holdings = new HoldingsRoute(ledger, workers);
        this.usage = new UsageRoute(usage.sums(), usage.labels(), usage.workers(), clock);
    }

    /** Mounts the routes. */
    public void mount(Router router) {
        OpenApiDocument.mount(router);
        ProblemDetails.mount(router);
        ReadAccess.mount(router, authorizer, workers);
        router.get("/v1/quotas").handler(this::quotas);
        router.get("/v1/holdings").handler(holdings::answer);
        router.get("/v1/usage").handler(usage::answer);
    }

    private void quotas(RoutingContext context) {
        if (QueryParameters.accept(context, Set.of())) {
            quotas.views()
                    .get()
                    .<Map<String, List<ResourceLimit>>, Supplier<JsonObject>>thenCombine(
                            quotas.resourceLimits().get(), (views, beside) -> () -> quotas(views, beside))
                    .whenComplete((body, failed) -> context.vertx().runOnContext(_ -> {
                        if (failed == null) {
                            answer(context, body);
                        } else {
                            context.fail(failed);
                        }
                    }));
        }
    }

    private static JsonObject quotas(List<QuotaView> views, Map<String, List<ResourceLimit>> beside) {
        return new JsonObject()
                .put(
                        "quotas",
                        array(views.stream().map(view -> quota(view, beside.getOrDefault(view.name(), List.of())))));
    }

    private static JsonObject quota(QuotaView view, List<ResourceLimit> beside) {
        var limits = new JsonArray();
        view.limits().forEach(row -> {
            var holders = new JsonArray();
            row.used()
                    .holders()
                    .forEach(holder -> holders.add(new JsonObject()
                            .put("pod", holder.pod())
                            .put("used", holder.used().number())));
            limits.add(new JsonObject()
                    .put("limit", row.limit().id())
                    .put("max", row.limit().max())
                    .put("used", row.used().used().number())
                    .put("carriedOver", row.used().carriedOver().number())
                    .put("escrow", row.escrow())
                    .put("holders", holders));
        });
        return new JsonObject()
                .put("name", view.name())
                .put("mode", view.mode())
                .put("leader", view.leader())
                .put("limits", limits)
                .put("resourceQuotas", array(beside.stream().map(AllocationRoutes::resourceLimit)));
    }

    private static JsonObject resourceLimit(ResourceLimit limit) {
        return new JsonObject()
                .put("namespace", limit.namespace())
                .put("name", limit.resourceQuota())
                .put("resource", limit.resource())
                .put("hard", limit.hard())
                .put("used", limit.used());
    }

    private static JsonArray array(Stream<JsonObject> rows) {
        return new JsonArray(rows.toList());
    }

    /** Builds the body on a worker: that of a large fleet would stop an event loop, and with it reviews and probes. */
    private void answer(RoutingContext context, Supplier<JsonObject> body) {
        workers.run(() -> body.get().toBuffer())
                .onSuccess(json -> context.response()
                        .putHeader("content-type", "application/json")
                        .end(json))
                .onFailure(failure -> ProblemDetails.failed(context, failure));
    }
}
