package io.gpufleet.nodedaemon.cli;

import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;

/**
 * Reports as JSON. A reading is its value, or {@code {"unavailable": reason}}; an enum is the name of its constant. Keys
 * are written by hand: they are a public interface and do not follow the names of record components.
 */
final class ReportJson {
    private ReportJson() {}

    /** Encodes maps, lists, readings, enums and plain values. */
    static String encode(Map<String, Object> report) {
        return object(report).encodePrettily() + "\n";
    }

    private static JsonObject object(Map<?, ?> fields) {
        var json = new JsonObject();
        fields.forEach((name, value) -> json.put(name.toString(), value(value)));
        return json;
    }

    private static Object value(Object value) {
        return switch (value) {
            case Map<?, ?> map -> object(map);
            case List<?> list ->
                new JsonArray(list.stream().map(ReportJson::value).toList());
            case Known<?>(Object known) -> value(known);
            case Unavailable<?>(String reason) -> new JsonObject().put("unavailable", reason);
            case Enum<?> constant -> constant.name();
            default -> value;
        };
    }
}
