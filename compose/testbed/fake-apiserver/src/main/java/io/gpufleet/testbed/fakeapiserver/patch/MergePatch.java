package io.gpufleet.testbed.fakeapiserver.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;

/** RFC 7386. */
public final class MergePatch {
    private MergePatch() {}

    /** A new tree; the arguments are not changed. */
    public static JsonNode apply(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ObjectNode changes)) {
            return patch;
        }
        ObjectNode result = target instanceof ObjectNode object ? object.deepCopy() : Json.object();
        for (var change : changes.properties()) {
            if (change.getValue().isNull()) {
                result.remove(change.getKey());
            } else {
                result.set(change.getKey(), apply(result.path(change.getKey()), change.getValue()));
            }
        }
        return result;
    }
}
