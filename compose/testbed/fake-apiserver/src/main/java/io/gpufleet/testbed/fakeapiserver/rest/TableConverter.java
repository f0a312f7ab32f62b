package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Converts objects to the tables of {@code kubectl get}. */
final class TableConverter {
    /**
     * A column.
     *
     * @param name heading
     * @param wide true for columns of {@code -o wide}
     */
    private record TableColumn(String name, boolean wide, Function<JsonNode, String> cell) {}

    private final Clock clock;

    TableConverter(Clock clock) {
        this.clock = clock;
    }

    static boolean isRequested(ApiRequest call) {
        return call.accept().contains("as=Table");
    }

    /** Converts a list or an object to a table. */
    ObjectNode toTable(ResourceType type, JsonNode body, boolean whole) {
        List<TableColumn> columns = columns(type);
        ObjectNode table = Json.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
        ObjectNode metadata = table.putObject("metadata");
        metadata.put("resourceVersion", Json.text(body, "metadata", "resourceVersion"));
        for (String paging : List.of("continue", "remainingItemCount")) {
            if (body.has("items") && body.path("metadata").has(paging)) {
                metadata.set(paging, body.path("metadata").get(paging));
            }
        }
        ArrayNode definitions = table.putArray("columnDefinitions");
        columns.forEach(column -> definitions
                .addObject()
                .put("name", column.name())
                .put("type", "string")
                .put("format", column.name().equals("Name") ? "name" : "")
                .put("description", "")
                .put("priority", column.wide() ? 1 : 0));
        ArrayNode rows = table.putArray("rows");
        Iterable<JsonNode> objects = body.has("items") ? body.path("items") : List.of(body);
        objects.forEach(object -> row(rows.addObject(), columns, object, whole));
        return table;
    }

    private static void row(ObjectNode row, List<TableColumn> columns, JsonNode object, boolean whole) {
        ArrayNode cells = row.putArray("cells");
        columns.forEach(column -> cells.add(column.cell().apply(object)));
        if (whole) {
            row.set("object", object);
        } else {
            ObjectNode partial = row.putObject("object");
            partial.put("kind", "PartialObjectMetadata").put("apiVersion", "meta.k8s.io/v1");
            partial.set("metadata", object.path("metadata"));
        }
    }

    private List<TableColumn> columns(ResourceType type) {
        TableColumn name = new TableColumn("Name", false, Json::name);
        TableColumn age =
                new TableColumn("Age", false, object -> age(Json.text(object, "metadata", "creationTimestamp")));
        return switch (type.resource().toString()) {
            case "nodes" ->
                List.of(
                        name,
                        new TableColumn("Status", false, TableConverter::nodeStatus),
                        new TableColumn("Roles", false, node -> "<none>"),
                        age,
                        columnAt("Version", false, "status", "nodeInfo", "kubeletVersion"));
            case "pods" ->
                List.of(
                        name,
                        new TableColumn("Ready", false, TableConverter::readyContainers),
                        new TableColumn("Status", false, TableConverter::podStatus),
                        new TableColumn("Restarts", false, TableConverter::restarts),
                        age,
                        columnAt("IP", true, "status", "podIP"),
                        columnAt("Node", true, "spec", "nodeName"));
            case "namespaces" -> List.of(name, columnAt("Status", false, "status", "phase"), age);
            case "events" ->
                List.of(
                        new TableColumn("Last Seen", false, event -> age(Json.text(event, "lastTimestamp"))),
                        columnAt("Type", false, "type"),
                        columnAt("Reason", false, "reason"),
                        new TableColumn("Object", false, TableConverter::involvedObject),
                        columnAt("Message", false, "message"));
            default -> custom(type, name, age);
        };
    }

    private static List<TableColumn> custom(ResourceType type, TableColumn name, TableColumn age) {
        List<TableColumn> columns = new ArrayList<>(List.of(name));
        boolean dated = false;
        for (JsonNode column : type.columns()) {
            String path = Json.text(column, "jsonPath");
            boolean date = Json.text(column, "type").equals("date");
            dated |= date;
            columns.add(
                    date
                            ? age
                            : columnAt(
                                    Json.text(column, "name"),
                                    column.path("priority").asInt(0) > 0,
                                    path.replaceFirst("^\\.", "").split("\\.")));
        }
        if (!dated) {
            columns.add(age);
        }
        return columns;
    }

    private static TableColumn columnAt(String name, boolean wide, String... path) {
        return new TableColumn(name, wide, object -> {
            String text = Json.text(object, path);
            return text.isEmpty() ? "<none>" : text;
        });
    }

    private static String nodeStatus(JsonNode node) {
        String ready = "Unknown";
        for (JsonNode condition : node.path("status").path("conditions")) {
            if (Json.text(condition, "type").equals("Ready")) {
                ready = Json.text(condition, "status").equals("True") ? "Ready" : "NotReady";
            }
        }
        return node.path("spec").path("unschedulable").asBoolean(false) ? ready + ",SchedulingDisabled" : ready;
    }

    private static String podStatus(JsonNode pod) {
        if (pod.path("metadata").has("deletionTimestamp")) {
            return "Terminating";
        }
        String reason = Json.text(pod, "status", "reason");
        return reason.isEmpty() ? Json.text(pod, "status", "phase") : reason;
    }

    private static String readyContainers(JsonNode pod) {
        int ready = 0;
        for (JsonNode status : pod.path("status").path("containerStatuses")) {
            ready += status.path("ready").asBoolean(false) ? 1 : 0;
        }
        return ready + "/" + pod.path("spec").path("containers").size();
    }

    private static String restarts(JsonNode pod) {
        int restarts = 0;
        for (JsonNode status : pod.path("status").path("containerStatuses")) {
            restarts += status.path("restartCount").asInt(0);
        }
        return Integer.toString(restarts);
    }

    private static String involvedObject(JsonNode event) {
        return Json.text(event, "involvedObject", "kind").toLowerCase(Locale.ROOT) + "/"
                + Json.text(event, "involvedObject", "name");
    }

    private String age(String time) {
        if (time.isEmpty()) {
            return "<unknown>";
        }
        Duration age = Duration.between(Instant.parse(time), clock.instant());
        if (age.toSeconds() < 120) {
            return Math.max(0, age.toSeconds()) + "s";
        }
        if (age.toHours() < 3) {
            return age.toMinutes() < 10 ? age.toMinutes() + "m" + age.toSecondsPart() + "s" : age.toMinutes() + "m";
        }
        return age.toHours() < 48 ? age.toHours() + "h" : age.toDays() + "d";
    }
}
