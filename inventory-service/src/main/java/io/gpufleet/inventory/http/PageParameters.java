package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.query.DeviceOrder;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.NodeOrder;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.vertx.ext.web.RoutingContext;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Parameters of a request for a page.
 *
 * @param order of nodes
 * @param deviceOrder of devices
 * @param fields of each item; empty for all
 * @param after where the page begins
 */
record PageParameters(
        FleetQuery query, NodeOrder order, DeviceOrder deviceOrder, Set<String> fields, String after, int size) {
    private static final Set<String> NAMES =
            Set.of("model", "node", "health", "presence", "namespace", "fields", "sort", "limit", "token");

    /** A filter for another value would match nothing, and look like an empty fleet. */
    private static final Set<String> HEALTH = new LinkedHashSet<>(Arrays.asList(
            "healthy", "suspect", "unhealthy", "recovering", "quarantined", "retired", "lost", "unknown"));

    private static final Set<String> PRESENCE = new LinkedHashSet<>(Arrays.asList("present", "departed", "lost"));

    /** The parameters of a list of nodes; empty where they are invalid, and the request has been answered. */
    static Optional<PageParameters> ofNodes(RoutingContext context) {
        return NodeOrder.parse(QueryParameters.get(context, "sort"))
                .map(order -> of(context, InventoryJson.NODE_FIELDS, order, DeviceOrder.BY_NODE))
                .orElseGet(() -> invalidSort(context, "name, presenceSince or announcedAt"));
    }

    /** The parameters of a list of devices; empty where they are invalid, and the request has been answered. */
    static Optional<PageParameters> ofDevices(RoutingContext context) {
        return DeviceOrder.parse(QueryParameters.get(context, "sort"))
                .map(order -> of(context, InventoryJson.DEVICE_FIELDS, NodeOrder.BY_NAME, order))
                .orElseGet(() -> invalidSort(context, "node, model or health"));
    }

    private static Optional<PageParameters> invalidSort(RoutingContext context, String known) {
        return QueryParameters.accept(context, NAMES)
                ? invalid(
                        context,
                        "sort='" + QueryParameters.get(context, "sort") + "' is invalid: must be " + known
                                + ", descending with a leading -")
                : Optional.empty();
    }

    private static Optional<PageParameters> of(
            RoutingContext context, Set<String> knownFields, NodeOrder order, DeviceOrder deviceOrder) {
        if (!QueryParameters.accept(context, NAMES)
                || !oneOf(context, "health", HEALTH)
                || !oneOf(context, "presence", PRESENCE)) {
            return Optional.empty();
        }
        String limit = QueryParameters.get(context, "limit");
        Optional<Integer> size = size(limit);
        if (size.isEmpty()) {
            return invalid(context, "limit='" + limit + "' is invalid: must be 1 to " + FleetQuery.Page.MAX_SIZE);
        }
        Set<String> fields = fields(QueryParameters.get(context, "fields"));
        if (!knownFields.containsAll(fields)) {
            return invalid(
                    context,
                    "fields='" + QueryParameters.get(context, "fields") + "' is invalid: must be some of "
                            + String.join(",", new TreeSet<>(knownFields)));
        }
        Optional<String> after = PageToken.position(QueryParameters.get(context, "token"));
        boolean ofNodes = knownFields == InventoryJson.NODE_FIELDS;
        if (after.isEmpty() || !(ofNodes ? order.accepts(after.get()) : deviceOrder.accepts(after.get()))) {
            return invalid(context, "invalid token: use 'next' of the previous page, with the same sort");
        }
        return Optional.of(new PageParameters(query(context), order, deviceOrder, fields, after.get(), size.get()));
    }

    private static FleetQuery query(RoutingContext context) {
        return new FleetQuery(
                QueryParameters.get(context, "model"),
                QueryParameters.get(context, "node"),
                QueryParameters.get(context, "health"),
                QueryParameters.get(context, "presence"),
                QueryParameters.get(context, "namespace"));
    }

    private static boolean oneOf(RoutingContext context, String name, Collection<String> values) {
        String value = QueryParameters.get(context, name).toLowerCase(Locale.ROOT);
        if (!value.isEmpty() && !values.contains(value)) {
            invalid(context, name + "='" + value + "' is invalid: must be one of " + String.join(", ", values));
            return false;
        }
        return true;
    }

    private static Set<String> fields(String text) {
        return text.isEmpty() ? Set.of() : new LinkedHashSet<>(Arrays.asList(text.split(",", -1)));
    }

    private static Optional<Integer> size(String text) {
        if (text.isEmpty()) {
            return Optional.of(FleetQuery.Page.DEFAULT_SIZE);
        }
        return text.matches("[0-9]{1,4}")
                ? Optional.of(Integer.parseInt(text)).filter(size -> size >= 1 && size <= FleetQuery.Page.MAX_SIZE)
                : Optional.empty();
    }

    private static Optional<PageParameters> invalid(RoutingContext context, String detail) {
        ProblemDetails.respond(context, 400, detail);
        return Optional.empty();
    }
}
