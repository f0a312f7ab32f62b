package io.gpufleet.health.http;

import io.gpufleet.health.app.IncidentStore;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.incident.Incident;
import io.gpufleet.health.model.incident.RecordedDecision;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;

/** Incidents and timelines: {@code GET /v1/incidents} and {@code GET /v1/devices/{device}/timeline}. */
final class IncidentRoutes {
    private static final Set<String> PARAMETERS = Set.of("node", "device", "open", "limit");

    private final NodeStateStore states;
    private final IncidentStore incidents;
    private final ReadResponses responses;

    IncidentRoutes(NodeStateStore states, IncidentStore incidents, ReadResponses responses) {
        this.states = states;
        this.incidents = incidents;
        this.responses = responses;
    }

    /** Adds the routes. */
    void mount(Router router) {
        router.get("/v1/incidents").handler(this::list);
        router.get("/v1/devices/:device/timeline").handler(this::timeline);
    }

    private void list(RoutingContext context) {
        if (!QueryParameters.accept(context, PARAMETERS)) {
            return;
        }
        OptionalInt limit = ResponseLimit.of(context);
        String open = QueryParameters.get(context, "open");
        if (limit.isEmpty()) {
            ProblemDetails.respond(context, 400, ResponseLimit.EXPECTED);
        } else if (!Set.of("", "true", "false").contains(open)) {
            ProblemDetails.respond(context, 400, "open takes true or false");
        } else {
            Predicate<Incident> wanted =
                    wanted(QueryParameters.get(context, "node"), QueryParameters.get(context, "device"), open);
            responses.respond(
                    context,
                    "",
                    json -> Optional.of(new JsonObject()
                            .put("complete", incidents.isLoaded())
                            .put("items", json.of(incidents.newest(wanted, limit.getAsInt())))));
        }
    }

    private static Predicate<Incident> wanted(String node, String device, String open) {
        return incident -> (node.isEmpty() || incident.node().equals(node))
                && (device.isEmpty() || incident.devices().contains(device))
                && (open.isEmpty() || incident.open() == Boolean.parseBoolean(open));
    }

    private void timeline(RoutingContext context) {
        if (QueryParameters.accept(context, Set.of())) {
            String wanted = Optional.ofNullable(context.pathParam("device")).orElse("");
            responses.respond(context, "device " + wanted, json -> timeline(wanted, json));
        }
    }

    /** Where a device is now, else where it was; a serial number names the same GPU on any node. */
    private record Location(NodeState node, Device device) {}

    private Optional<Location> locate(String wanted) {
        return states.nodes().stream()
                .flatMap(node -> node.devices().values().stream()
                        .filter(device -> device.uuid().equals(wanted)
                                || device.identity().serial().equals(wanted))
                        .map(device -> new Location(node, device)))
                .max(Comparator.comparing(location -> location.device().listed()));
    }

    private Optional<JsonObject> timeline(String wanted, IncidentJson json) {
        Optional<Location> location = locate(wanted);
        String uuid = location.map(found -> found.device().uuid()).orElse(wanted);
        List<RecordedDecision> decisions = incidents.timeline(uuid);
        if (location.isEmpty() && decisions.isEmpty()) {
            return Optional.empty();
        }
        var response = new JsonObject()
                .put("device", uuid)
                .put("complete", incidents.isLoaded())
                .put("decisions", json.decisions(decisions))
                .put(
                        "incidents",
                        new JsonArray(
                                incidents
                                        .newest(incident -> incident.devices().contains(uuid), ResponseLimit.MAX)
                                        .stream()
                                        .map(Incident::id)
                                        .toList()));
        location.ifPresent(found -> response.put("node", found.node().node().name())
                .put("serial", found.device().identity().serial())
                .put("listed", found.device().listed())
                .put("state", found.device().health().state())
                .put("since", found.device().health().since().toString())
                .put("reason", found.device().health().reason()));
        return Optional.of(response);
    }
}
