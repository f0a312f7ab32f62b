package io.gpufleet.allocation.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.allocation.app.HoldingQuery;
import io.gpufleet.allocation.app.HoldingQuery.Position;
import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code /v1/holdings}: open intervals in pages, bounded by number and by length. */
final class HoldingsRoute {
    /** Length after which a page ends, in characters; one interval is always on it. */
    static final int MAX_LENGTH = 4 << 20;

    private static final int BAD_REQUEST = 400;
    private static final int DEFAULT_SIZE = 100;
    private static final int MAX_SIZE = 1000;

    private final Ledger ledger;
    private final RequestWorkers workers;

    HoldingsRoute(Ledger ledger, RequestWorkers workers) {
        this.ledger = ledger;
        this.workers = workers;
    }

    void answer(RoutingContext context) {
        if (!QueryParameters.accept(context, Set.of("namespace", "node", "limit", "token"))) {
            return;
        }
        String limit = QueryParameters.get(context, "limit");
        Optional<Integer> size = size(limit);
        Optional<Position> after = position(QueryParameters.get(context, "token"));
        if (size.isEmpty()) {
            ProblemDetails.respond(context, BAD_REQUEST, "limit='" + limit + "' is invalid: must be 1 to " + MAX_SIZE);
        } else if (after.isEmpty()) {
            ProblemDetails.respond(context, BAD_REQUEST, "invalid token: use 'next' of the previous page");
        } else {
            var query =
                    new HoldingQuery(QueryParameters.get(context, "namespace"), QueryParameters.get(context, "node"));
            workers.run(() -> page(query.after(after.get(), ledger, size.get() + 1), size.get()))
                    .onSuccess(json -> context.response()
                            .putHeader("content-type", "application/json")
                            .end(json))
                    .onFailure(failure -> ProblemDetails.failed(context, failure));
        }
    }

    /** Page of the first {@code size} matches, or of fewer where the next one would make it too long. */
    static String page(List<HoldingQuery.Match> matches, int size) {
        var json = new StringBuilder("{\"holdings\":[");
        int count = 0;
        for (HoldingQuery.Match match : matches) {
            String encoded = holding(match.node(), match.open()).encode();
            if (count == size || count > 0 && json.length() + encoded.length() > MAX_LENGTH) {
                String next = token(matches.get(count - 1).position());
                return json.append("],\"next\":\"").append(next).append("\"}").toString();
            }
            json.append(count == 0 ? "" : ",").append(encoded);
            count++;
        }
        return json.append("]}").toString();
    }

    private static Optional<Integer> size(String text) {
        if (text.isEmpty()) {
            return Optional.of(DEFAULT_SIZE);
        }
        return text.matches("[0-9]{1,4}")
                ? Optional.of(Integer.parseInt(text)).filter(size -> size >= 1 && size <= MAX_SIZE)
                : Optional.empty();
    }

    private static String token(Position position) {
        DeviceSlot slot = position.slot();
        String json =
                JsonArray.of(position.node(), slot.deviceUuid(), slot.replica()).encode();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(UTF_8));
    }

    private static Optional<Position> position(String token) {
        if (token.isEmpty()) {
            return Optional.of(Position.START);
        }
        try {
            var values = new JsonArray(new String(Base64.getUrlDecoder().decode(token), UTF_8));
            return values.size() == 3
                            && values.getValue(0) instanceof String node
                            && values.getValue(1) instanceof String device
                            && values.getValue(2) instanceof Integer replica
                    ? Optional.of(new Position(node, new DeviceSlot(device, replica)))
                    : Optional.empty();
        } catch (IllegalArgumentException | DecodeException unreadable) {
            return Optional.empty();
        }
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
                .put("quality", open.quality().text());
    }
}
