package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.select.FieldSelector;
import io.gpufleet.compose.kubeapi.select.LabelSelector;
import java.util.function.Predicate;

/**
 * Which objects of a collection a request is about.
 *
 * @param target collection, or one object of it
 */
record Selection(Target target, LabelSelector labels, FieldSelector fields) implements Predicate<JsonNode> {
    static Selection of(Target target, Call call) {
        return new Selection(
                target,
                LabelSelector.parse(call.parameter("labelSelector")),
                FieldSelector.parse(target.type(), call.parameter("fieldSelector")));
    }

    @Override
    public boolean test(JsonNode object) {
        boolean inNamespace = target.namespace().isEmpty() || target.namespace().equals(Json.namespace(object));
        boolean named = target.name().isEmpty() || target.name().equals(Json.name(object));
        return inNamespace && named && labels.test(object) && fields.test(object);
    }
}
