package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.WebhookDispatcher;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.store.ObjectStore;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import io.gpufleet.testbed.fakeapiserver.type.ResourceTypes;
import java.time.Clock;
import java.time.temporal.ChronoUnit;

/**
 * Objects that all handlers share.
 *
 * @param store all objects
 * @param types all served resources
 * @param webhooks called before a write
 * @param tokens known tokens
 * @param clock clock of all timestamps
 */
public record ServerContext(
        ObjectStore store, ResourceTypes types, WebhookDispatcher webhooks, BearerTokens tokens, Clock clock) {
    /** The time in the format of metadata: whole seconds. */
    String now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** A stored object in the requested version. */
    static ObjectNode inVersion(ResourceType type, ObjectNode stored) {
        if (Json.text(stored, "apiVersion").equals(type.apiVersion())) {
            return stored;
        }
        return stored.deepCopy().put("apiVersion", type.apiVersion());
    }
}
