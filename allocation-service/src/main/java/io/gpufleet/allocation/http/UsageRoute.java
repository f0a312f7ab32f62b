package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.UsageSumReader;
import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;

/** {@code /v1/usage}: sums of a window, as JSON or CSV. */
final class UsageRoute {
    private static final int BAD_REQUEST = 400;
    private static final int UNAVAILABLE = 503;
    private static final Duration DEFAULT_RANGE = Duration.ofDays(1);
    private static final String DEFAULT_GROUP = "namespace,model,quality";

    private final UsageSumReader usage;
    private final Set<String> labels;
    private final RequestWorkers workers;
    private final Clock clock;

    UsageRoute(UsageSumReader usage, Set<String> labels, RequestWorkers workers, Clock clock) {
        this.usage = usage;
        this.labels = labels;
        this.workers = workers;
        this.clock = clock;
    }

    void answer(RoutingContext context) {
        if (!QueryParameters.accept(context, Set.of("from", "to", "group-by", "format"))) {
            return;
        }
        try {
            UsageSumReader.Query query = query(context);
            boolean csv = csv(context);
            workers.run(() -> body(query, csv))
                    .onSuccess(body -> context.response()
                            .putHeader("content-type", csv ? "text/csv; charset=utf-8" : "application/json")
                            .end(body))
                    .onFailure(failure -> refuse(context, failure));
        } catch (DateTimeException unreadable) {
            ProblemDetails.respond(
                    context,
                    BAD_REQUEST,
                    "from and to take RFC 3339 times in UTC, for example 2026-11-20T00:00:00Z: "
                            + unreadable.getMessage());
        } catch (IllegalArgumentException refused) {
            ProblemDetails.respond(context, BAD_REQUEST, String.valueOf(refused.getMessage()));
        }
    }

    private UsageSumReader.Query query(RoutingContext context) {
        Instant to = time(context, "to").orElseGet(clock::instant);
        Instant from = time(context, "from").orElse(to.minus(DEFAULT_RANGE));
        if (from.isAfter(to)) {
            throw new IllegalArgumentException("from=" + from + " is after to=" + to);
        }
        String group = QueryParameters.get(context, "group-by");
        Set<Dimension> dimensions = new LinkedHashSet<>();
        Set<String> keys = new LinkedHashSet<>();
        for (String name : (group.isEmpty() ? DEFAULT_GROUP : group).split(",", -1)) {
            Optional<String> label = UsageSumReader.Query.label(name);
            if (label.isPresent()) {
                keys.add(carried(label.get()));
                continue;
            }
            dimensions.add(Dimension.named(name)
                    .orElseThrow(() -> new IllegalArgumentException("group-by takes "
                            + List.of(Dimension.values()).stream()
                                    .map(Dimension::text)
                                    .collect(Collectors.joining(", "))
                            + " and label:<key>, separated by commas; not '" + name + "'")));
        }
        return new UsageSumReader.Query(from, to, List.copyOf(dimensions), List.copyOf(keys));
    }

    private String carried(String key) {
        if (!labels.contains(key)) {
            throw new IllegalArgumentException(
                    "usage carries no label '" + key + "'; GPUFLEET_USAGE_LABELS names " + String.join(", ", labels));
        }
        return key;
    }

    private static boolean csv(RoutingContext context) {
        String format = QueryParameters.get(context, "format");
        if (!Set.of("", "json", "csv").contains(format)) {
            throw new IllegalArgumentException("format is json or csv, not '" + format + "'");
        }
        return format.equals("csv");
    }

    private String body(UsageSumReader.Query query, boolean csv) throws IOException {
        List<UsageSumReader.UsageSum> sums = usage.sums(query);
        return csv ? UsageCsv.encode(query, sums) : json(query, sums).encode();
    }

    private static void refuse(RoutingContext context, Throwable failure) {
        switch (failure) {
            case IllegalArgumentException refused ->
                ProblemDetails.respond(context, BAD_REQUEST, String.valueOf(refused.getMessage()));
            case IOException notYet ->
                ProblemDetails.respond(context, UNAVAILABLE, String.valueOf(notYet.getMessage()));
            case RejectedExecutionException busy ->
                ProblemDetails.respond(context, UNAVAILABLE, String.valueOf(busy.getMessage()));
            default -> context.fail(failure);
        }
    }

    static JsonObject json(UsageSumReader.Query query, List<UsageSumReader.UsageSum> sums) {
        var rows = new JsonArray();
        sums.forEach(sum -> {
            var row = new JsonObject();
            var labelValues = new JsonObject();
            sum.group()
                    .forEach((name, value) -> UsageSumReader.Query.label(name)
                            .ifPresentOrElse(key -> labelValues.put(key, value), () -> row.put(name, value)));
            if (!labelValues.isEmpty()) {
                row.put("labels", labelValues);
            }
            rows.add(row.put("gpuSeconds", sum.gpuSeconds()).put("intervals", sum.intervals()));
        });
        return new JsonObject()
                .put("from", query.from().toString())
                .put("to", query.to().toString())
                .put("usage", rows);
    }

    private static Optional<Instant> time(RoutingContext context, String name) {
        return Optional.of(QueryParameters.get(context, name))
                .filter(text -> !text.isEmpty())
                .map(Instant::parse);
    }
}
