package io.gpufleet.cli.health;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.cli.fleet.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** The explanation of a node as text: verdict, GPUs that are not healthy, and its incidents. */
public final class WhyReport {
    private WhyReport() {}

    /** Renders the response of {@code GET /v1/nodes/{node}/why}. */
    public static String render(JsonNode why) {
        var text = new StringBuilder();
        text.append(text(why, "node")).append(": ").append(text(why, "state"));
        text.append(why.path("trusted").asBoolean() ? ", not tainted" : ", tainted");
        append(text, ", ", text(why, "reason"));
        append(text, ", recommended: ", text(why, "recommendedAction").replace("none", ""));
        text.append(" (since ").append(text(why, "since")).append(")\n");
        append(text, "held back: ", text(why, "heldBack"), "\n");
        append(text, "quarantine: ", text(why, "quarantine"), "\n");
        append(text, "override: ", text(why.path("override"), "by"), "\n");
        append(text, "refused: ", text(why, "eventsRefused"), "\n");
        why.path("missedFromServices").forEach(line -> append(text, "missed: ", line.asText(), "\n"));
        append(text, "Node object: ", text(why.path("desired"), "outcome"), "\n");
        devices(text, why.path("devices"));
        why.path("faults").forEach(fault -> forgotten(text, "node", fault));
        why.path("devices")
                .forEach(device ->
                        device.path("faults").forEach(fault -> forgotten(text, text(device, "uuid"), fault)));
        why.path("shadow").forEach(difference -> shadow(text, difference));
        why.path("incidents").forEach(incident -> incident(text, incident));
        return text.toString();
    }

    private static void devices(StringBuilder text, JsonNode devices) {
        var table = new TextTable("GPU", "STATE", "IN SERVICE", "REASON", "RECOMMENDED", "HELD BACK");
        long healthy = 0;
        for (JsonNode device : devices) {
            if (text(device, "state").equals("HEALTHY")) {
                healthy++;
            } else {
                table.row(
                        text(device, "uuid"),
                        text(device, "state"),
                        device.path("trusted").asBoolean() ? "yes" : "no",
                        text(device, "reason"),
                        text(device, "recommendedAction"),
                        text(device, "heldBack"));
            }
        }
        text.append(healthy).append(" of ").append(devices.size()).append(" GPUs are healthy\n");
        if (healthy < devices.size()) {
            text.append(table.render());
        }
    }

    private static void forgotten(StringBuilder text, String of, JsonNode fault) {
        append(text, of + " " + text(fault, "fault") + ": ", text(fault, "forgotten"), "\n");
    }

    private static void shadow(StringBuilder text, JsonNode difference) {
        boolean onlyShadow = text(difference, "only").equals("shadow");
        text.append(onlyShadow ? "only the shadow policy: " : "not the shadow policy: ");
        append(text, "", text(difference, "device"), ": ");
        text.append(text(difference, "action")).append(" (").append(text(difference, "rule"));
        text.append(", ").append(text(difference, "at")).append(")\n");
    }

    private static void incident(StringBuilder text, JsonNode incident) {
        text.append(incident.path("open").asBoolean() ? "\nopen incident since " : "\nincident from ")
                .append(text(incident, "begin"));
        if (!incident.path("open").asBoolean()) {
            text.append(" to ").append(text(incident, "until"));
        }
        text.append('\n');
        append(text, "  first fact  ", text(incident, "firstFact"), "\n");
        append(text, "  reason      ", text(incident, "reason"), "\n");
        append(text, "  rule        ", text(incident, "rule"), "\n");
        append(text, "  budget      ", text(incident, "budget"), "\n");
        append(text, "  pods        ", pods(incident.path("pods")), "\n");
        text.append("  lost        ")
                .append(incident.path("gpuSecondsLost").asLong())
                .append(" GPU seconds\n");
        var decisions = new TextTable("  AT", "GPU", "TO", "OUTCOME", "ACTION");
        incident.path("decisions")
                .forEach(decision -> decisions.row(
                        "  " + text(decision, "at"),
                        text(decision, "device").isEmpty() ? "(node)" : text(decision, "device"),
                        text(decision, "to"),
                        text(decision, "outcome"),
                        text(decision, "action")));
        text.append(decisions.render());
    }

    private static String pods(JsonNode pods) {
        List<String> named = new ArrayList<>();
        long masked = StreamSupport.stream(pods.spliterator(), false)
                .filter(pod -> pod.path("masked").asBoolean())
                .count();
        pods.forEach(pod -> named.add(text(pod, "namespace") + "/" + text(pod, "pod")
                + (text(pod, "owner").isEmpty() ? "" : " of " + text(pod, "owner"))));
        String visible =
                named.stream().filter(name -> !name.equals("/")).distinct().collect(Collectors.joining(", "));
        return masked == 0
                ? visible
                : visible + (visible.isEmpty() ? "" : ", ") + masked + " in namespaces that you may not see";
    }

    private static void append(StringBuilder text, String before, String value, String... after) {
        if (!value.isEmpty()) {
            text.append(before).append(value).append(String.join("", after));
        }
    }

    private static String text(JsonNode json, String field) {
        return json.path(field).asText("");
    }
}
