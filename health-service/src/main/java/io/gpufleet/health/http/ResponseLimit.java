package io.gpufleet.health.http;

import io.gpufleet.kit.web.QueryParameters;
import io.vertx.ext.web.RoutingContext;
import java.util.OptionalInt;

/** The parameter {@code limit} of lists: how many items a response has at most. */
final class ResponseLimit {
    /** The largest one. */
    static final int MAX = 500;

    /** Error message about another value. */
    static final String EXPECTED = "limit takes a number from 1 to " + MAX;

    private static final int DEFAULT = 100;

    private ResponseLimit() {}

    /** The limit of a request; empty for a value that is no limit. */
    static OptionalInt of(RoutingContext context) {
        String text = QueryParameters.get(context, "limit");
        if (text.isEmpty()) {
            return OptionalInt.of(DEFAULT);
        }
        int limit = text.matches("\\d{1,3}") ? Integer.parseInt(text) : 0;
        return limit >= 1 && limit <= MAX ? OptionalInt.of(limit) : OptionalInt.empty();
    }
}
