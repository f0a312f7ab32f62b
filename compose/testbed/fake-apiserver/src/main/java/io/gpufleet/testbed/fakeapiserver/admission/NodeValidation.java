package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.StatusCause;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Validates Nodes as far as writers of taints rely on it. */
public final class NodeValidation {
    private NodeValidation() {}

    /** A taint is identified by key and effect; there is one of each. */
    public static void validate(ResourceType type, ObjectNode node) {
        List<StatusCause> causes = new ArrayList<>();
        Set<String> found = new HashSet<>();
        int index = 0;
        for (JsonNode taint : Json.at(node, "spec", "taints")) {
            String identity = Json.text(taint, "key") + ":" + Json.text(taint, "effect");
            if (!found.add(identity)) {
                causes.add(new StatusCause(
                        "metadata.taints[" + index + "]",
                        "FieldValueDuplicate",
                        "Duplicate value: \"" + identity + "\""));
            }
            index++;
        }
        if (!causes.isEmpty()) {
            throw ApiError.invalid(type.resource(), type.kind(), Json.name(node), causes);
        }
    }
}
