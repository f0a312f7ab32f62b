package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.Webhooks;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.store.Store;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import io.gpufleet.compose.kubeapi.type.Types;
import java.time.Clock;
import java.time.temporal.ChronoUnit;

/**
 * What every verb works on.
 *
 * @param store all objects
 * @param types all served resources
 * @param webhooks asked before a write
 * @param tokens who is known
 * @param clock of all timestamps
 */
public record Cluster(Store store, Types types, Webhooks webhooks, Tokens tokens, Clock clock) {
    /** The time as metadata writes it: whole seconds. */
    String now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** A stored object as it is shown in the version that was asked for. */
    static ObjectNode shown(ResourceType type, ObjectNode stored) {
        if (Json.text(stored, "apiVersion").equals(type.apiVersion())) {
            return stored;
        }
        return stored.deepCopy().put("apiVersion", type.apiVersion());
    }
}
