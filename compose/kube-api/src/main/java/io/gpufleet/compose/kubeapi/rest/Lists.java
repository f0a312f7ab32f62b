package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.store.Listing;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Collections, whole or in pages; the pages of one list show one moment. */
final class Lists {
    private static final int OPEN_PAGES = 100;

    private final Cluster cluster;
    private final Map<String, Listing> rest = new LinkedHashMap<>();

    Lists(Cluster cluster) {
        this.cluster = cluster;
    }

    Answer list(Target target, Call call) {
        Listing found = call.parameter("continue").isEmpty() ? fresh(target, call) : continued(call);
        int limit = number(call, "limit");
        ObjectNode list = Json.object()
                .put("kind", target.type().kind() + "List")
                .put("apiVersion", target.type().apiVersion());
        ObjectNode metadata = list.putObject("metadata").put("resourceVersion", Long.toString(found.revision()));
        ArrayNode items = list.putArray("items");
        int shown = limit > 0
                ? Math.min(limit, found.objects().size())
                : found.objects().size();
        found.objects().subList(0, shown).forEach(object -> items.add(Cluster.shown(target.type(), object)));
        int left = found.objects().size() - shown;
        if (left > 0) {
            metadata.put(
                    "continue",
                    keep(new Listing(
                            found.revision(),
                            found.objects().subList(shown, found.objects().size()))));
            metadata.put("remainingItemCount", left);
        }
        return Answer.ok(list);
    }

    /** What a request selects now. */
    Listing fresh(Target target, Call call) {
        Selection selection = Selection.of(target, call);
        Listing all = cluster.store().list(target.resource(), target.namespace());
        List<ObjectNode> selected = all.objects().stream().filter(selection).toList();
        return new Listing(all.revision(), selected);
    }

    private synchronized String keep(Listing listing) {
        String token = UUID.randomUUID().toString();
        rest.put(token, listing);
        if (rest.size() > OPEN_PAGES) {
            rest.remove(rest.keySet().iterator().next());
        }
        return token;
    }

    private synchronized Listing continued(Call call) {
        Listing listing = rest.get(call.parameter("continue"));
        if (listing == null) {
            throw ApiError.expired("The provided continue parameter is too old to display a consistent list result."
                    + " You must start a new list without the continue parameter.");
        }
        return listing;
    }

    private static int number(Call call, String name) {
        String text = call.parameter(name);
        try {
            return text.isEmpty() ? 0 : Integer.parseInt(text);
        } catch (NumberFormatException notANumber) {
            throw ApiError.badRequest(name + ": '" + text + "' is not a number");
        }
    }
}
