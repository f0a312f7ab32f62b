package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.store.ObjectList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Lists of objects, whole or in pages; the pages of one list have one revision. */
final class ListHandler {
    private static final int MAX_REMAINDERS = 100;

    private final ServerContext context;
    private final Map<String, ObjectList> remainders = new LinkedHashMap<>();

    ListHandler(ServerContext cluster) {
        this.context = cluster;
    }

    ApiResponse list(RequestInfo target, ApiRequest call) {
        ObjectList found = call.parameter("continue").isEmpty() ? select(target, call) : resume(call);
        int limit = number(call, "limit");
        ObjectNode list = Json.object()
                .put("kind", target.type().kind() + "List")
                .put("apiVersion", target.type().apiVersion());
        ObjectNode metadata = list.putObject("metadata").put("resourceVersion", Long.toString(found.revision()));
        ArrayNode items = list.putArray("items");
        int shown = limit > 0
                ? Math.min(limit, found.objects().size())
                : found.objects().size();
        found.objects().subList(0, shown).forEach(object -> items.add(ServerContext.inVersion(target.type(), object)));
        int left = found.objects().size() - shown;
        if (left > 0) {
            metadata.put(
                    "continue",
                    saveRemainder(new ObjectList(
                            found.revision(),
                            found.objects().subList(shown, found.objects().size()))));
            metadata.put("remainingItemCount", left);
        }
        return ApiResponse.ok(list);
    }

    /** The objects that a request selects. */
    ObjectList select(RequestInfo target, ApiRequest call) {
        SelectionPredicate selection = SelectionPredicate.of(target, call);
        ObjectList all = context.store().list(target.resource(), target.namespace());
        List<ObjectNode> selected = all.objects().stream().filter(selection).toList();
        return new ObjectList(all.revision(), selected);
    }

    private synchronized String saveRemainder(ObjectList listing) {
        String token = UUID.randomUUID().toString();
        remainders.put(token, listing);
        if (remainders.size() > MAX_REMAINDERS) {
            remainders.remove(remainders.keySet().iterator().next());
        }
        return token;
    }

    private synchronized ObjectList resume(ApiRequest call) {
        ObjectList listing = remainders.get(call.parameter("continue"));
        if (listing == null) {
            throw ApiError.expired("The provided continue parameter is too old to display a consistent list result."
                    + " You must start a new list without the continue parameter.");
        }
        return listing;
    }

    private static int number(ApiRequest call, String name) {
        String text = call.parameter(name);
        try {
            return text.isEmpty() ? 0 : Integer.parseInt(text);
        } catch (NumberFormatException notANumber) {
            throw ApiError.badRequest(name + ": '" + text + "' is not a number");
        }
    }
}
