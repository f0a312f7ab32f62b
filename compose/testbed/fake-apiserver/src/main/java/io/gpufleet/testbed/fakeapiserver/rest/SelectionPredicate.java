package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.select.FieldSelector;
import io.gpufleet.testbed.fakeapiserver.select.LabelSelector;
import java.util.function.Predicate;

/**
 * Selectors of a request.
 *
 * @param target collection, or one object
 */
record SelectionPredicate(RequestInfo target, LabelSelector labels, FieldSelector fields)
        implements Predicate<JsonNode> {
    static SelectionPredicate of(RequestInfo target, ApiRequest call) {
        return new SelectionPredicate(
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
