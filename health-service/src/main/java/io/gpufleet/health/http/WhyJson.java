package io.gpufleet.health.http;

import io.gpufleet.health.model.Device;
import io.gpufleet.health.model.DeviceHealth;
import io.gpufleet.health.model.Episode;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.WantedMarks;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.Locale;

/** Why a node stands as it does: facts, what is concluded, what it should wear, what became of that. */
final class WhyJson {
    private WhyJson() {}

    static JsonObject of(NodeState state, String outcome) {
        Verdict verdict = Verdict.of(state);
        var devices = new JsonArray();
        state.devices().values().forEach(device -> devices.add(of(device)));
        var json = new JsonObject()
                .put("node", state.node())
                .put("nodeUid", state.nodeUid())
                .put("bootId", state.boot().id())
                .put("state", state.standing().state())
                .put("trusted", verdict.trusted())
                .put("since", state.standing().since().toString())
                .put("reason", state.standing().reason())
                .put("nextStep", state.standing().step().word())
                .put("revision", state.revision())
                .put("evidence", new JsonArray(verdict.evidence()))
                .put("faults", faults(state.episodes().values()))
                .put("devices", devices)
                .put("marks", marks(WantedMarks.of(verdict), outcome));
        if (state.quarantine() != null) {
            json.put("quarantine", state.quarantine().note());
        }
        if (state.hand() != null) {
            json.put(
                    "operatorsHand",
                    new JsonObject()
                            .put("mark", state.hand().mark())
                            .put("by", state.hand().by())
                            .put("since", state.hand().since().toString()));
        }
        return json;
    }

    private static JsonObject of(Device device) {
        DeviceHealth health = device.health();
        var json = new JsonObject()
                .put("uuid", device.uuid())
                .put("model", device.model())
                .put("state", health.state())
                .put("trusted", health.trusted())
                .put("since", health.since().toString())
                .put("reason", health.reason())
                .put("nextStep", health.step().word())
                .put("locallyHealthy", device.locallyHealthy())
                .put("faults", faults(device.episodes().values()));
        if (health instanceof DeviceHealth.Quarantined quarantined) {
            json.put("note", quarantined.note());
        }
        if (health instanceof DeviceHealth.Retired retired) {
            json.put("note", retired.note());
        }
        return json;
    }

    private static JsonArray faults(Collection<Episode> episodes) {
        var faults = new JsonArray();
        episodes.forEach(episode -> faults.add(new JsonObject()
                .put("fault", episode.code().slug())
                .put("since", episode.since().toString())
                .put("observations", episode.observations())
                .put("driverAsksFor", episode.action().name().toLowerCase(Locale.ROOT))
                .put("event", episode.eventId())
                .put("actedUpon", episode.acts())));
        return faults;
    }

    private static JsonObject marks(WantedMarks wanted, String outcome) {
        return new JsonObject()
                .put("taint", wanted.taint())
                .put("label", wanted.label())
                .put("nextStep", wanted.nextStep())
                .put("condition", wanted.condition().status())
                .put("message", wanted.condition().message())
                .put("outcome", outcome);
    }
}
