package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.function.Function;

/** Encodes a page item by item: it ends early where the next item would make it too long. */
final class JsonPage {
    /** Length after which a page ends, in characters; one item is always on it. */
    static final int MAX_LENGTH = 4 << 20;

    private JsonPage() {}

    /**
     * The page as JSON.
     *
     * @param fields of each item; empty for all
     * @param position where the page after an item begins
     */
    static <T> String encode(
            FleetQuery.Page<T> page, Function<T, JsonObject> item, Set<String> fields, Function<T, String> position) {
        var json = new StringBuilder("{\"items\":[");
        String next = "";
        for (T each : page.items()) {
            String encoded = only(item.apply(each), fields).encode();
            if (!next.isEmpty() && json.length() + encoded.length() > MAX_LENGTH) {
                return end(json, next);
            }
            json.append(next.isEmpty() ? "" : ",").append(encoded);
            next = position.apply(each);
        }
        return end(json, page.more() ? next : "");
    }

    private static String end(StringBuilder json, String next) {
        json.append(']');
        if (!next.isEmpty()) {
            json.append(",\"next\":\"").append(PageToken.of(next)).append('"');
        }
        return json.append('}').toString();
    }

    private static JsonObject only(JsonObject item, Set<String> fields) {
        if (!fields.isEmpty()) {
            item.fieldNames().retainAll(fields);
        }
        return item;
    }
}
