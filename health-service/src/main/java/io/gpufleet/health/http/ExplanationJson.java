package io.gpufleet.health.http;

import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HeldBack;
import io.gpufleet.health.model.ManualOverride;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Response of {@code GET /v1/nodes/{n}/why}: faults, verdict, desired Node and the outcome of patching it.
 *
 * <pre>
 * node, nodeUid, bootId, revision, heldBack, evidence
 * state, trusted, since, reason, recommendedAction
 * faults        [fault, since, observations, recoveryAction, event, actedUpon, waitsFor, forgotten?]
 * devices       [uuid, model, state, trusted, heldBack, since, reason, recommendedAction, locallyHealthy, listed,
 *                serial, attempts {action: count}, faults, note?]
 * desired       {taint, label, recommendedAction, condition, message, outcome}
 * presence      why the health is not known; empty while it is
 * drain         {order, phase, since?, jobs, message}: which pods have to leave, and how far that is
 * remediation?  {name, action, attempt, phase, at, deadline, message}: the newest one that an executor was asked for
 * quarantine?   note
 * incidents     the newest ones of the node, see {@link IncidentJson}
 * override?     {target, by, since}
 * maintenance?  who declared that people work on the node, and why
 * frozen?       who froze the fleet, and why
 * brakeReset?   {target, by, since} by which an operator opened the storm brake of the fleet
 * eventsRefused? why, and what to do about it
 * shadow?       the newest decisions that only the policy in force or only the shadow policy reached, see {@link ShadowRoutes}
 * </pre>
 */
final class ExplanationJson {
    private static final String FORGOTTEN =
            "kept: the daemon lost its state directory after it reported this fault, and cannot"
                    + " vouch for its end. It ends by a boot of the node as the policy says, by the command clear for its device, or by"
                    + " its own end once the daemon observes it again";

    private ExplanationJson() {}

    static JsonObject of(NodeState state, String outcome, boolean eventsRefused, Optional<NodeState> fleet) {
        Verdict verdict = Verdict.of(state);
        var devices = new JsonArray();
        state.devices().values().forEach(device -> devices.add(of(state, device)));
        var json = new JsonObject()
                .put("node", state.node().name())
                .put("nodeUid", state.node().uid())
                .put("bootId", state.boot().id())
                .put("state", state.health().state())
                .put("trusted", verdict.trusted())
                .put("since", state.health().since().toString())
                .put("reason", state.health().reason())
                .put("recommendedAction", state.health().recommendedAction().slug())
                .put("revision", state.revision())
                .put("heldBack", verdict.heldBack())
                .put("evidence", new JsonArray(verdict.evidence()))
                .put("faults", faults(state.episodes().values()))
                .put("devices", devices)
                .put("drain", drain(state))
                .put("presence", state.node().presence().reason())
                .put("desired", desired(DesiredNode.of(verdict), outcome));
        RemediationProgress remediation = state.acting().remediation();
        if (remediation.phase() != RemediationProgress.Phase.NONE) {
            json.put("remediation", remediation(remediation));
        }
        if (state.quarantine() != null) {
            json.put("quarantine", state.quarantine().note());
        }
        if (state.override() != null) {
            json.put("override", override(state.override()));
        }
        state.maintenance().ifPresent(line -> json.put("maintenance", line));
        FleetCommandDecider.freeze(fleet).ifPresent(line -> json.put("frozen", line));
        FleetCommandDecider.newest(fleet).ifPresent(reset -> json.put("brakeReset", override(reset)));
        if (eventsRefused) {
            json.put("eventsRefused", refused(state.boot()));
        }
        return json;
    }

    /** An incarnation is the time at which a daemon started, by its own clock. */
    private static String refused(NodeState.Boot boot) {
        return "the newest events of the daemon are refused, since they are older than events already applied, whose"
                + " daemon started at " + Instant.ofEpochMilli(boot.epoch()) + ": correct the clock of the node; a"
                + " restart of the daemon helps only once the clock is past that time, a reboot of the node helps at"
                + " once";
    }

    private static JsonObject override(ManualOverride override) {
        return new JsonObject()
                .put("target", override.target())
                .put("by", override.by())
                .put("since", override.since().toString());
    }

    private static JsonObject of(NodeState state, Device device) {
        DeviceHealth health = device.health();
        var json = new JsonObject()
                .put("uuid", device.uuid())
                .put("model", device.model())
                .put("state", health.state())
                .put("trusted", !state.withdrawn(device))
                .put(
                        "heldBack",
                        Optional.ofNullable(state.heldBack().get(device.uuid()))
                                .map(HeldBack::by)
                                .orElse(""))
                .put("since", health.since().toString())
                .put("reason", health.reason())
                .put("recommendedAction", health.recommendedAction().slug())
                .put("locallyHealthy", device.locallyHealthy())
                .put("listed", device.listed())
                .put("serial", device.identity().serial())
                .put("attempts", attempts(device))
                .put("faults", faults(device.episodes().values()));
        if (health instanceof DeviceHealth.Quarantined quarantined) {
            json.put("note", quarantined.note());
        }
        if (health instanceof DeviceHealth.Retired retired) {
            json.put("note", retired.note());
        }
        return json;
    }

    private static JsonObject attempts(Device device) {
        var attempts = new JsonObject();
        device.history().attempts().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(made ->
                        attempts.put(made.getKey().slug(), made.getValue().count()));
        return attempts;
    }

    private static JsonArray faults(Collection<Episode> episodes) {
        var faults = new JsonArray();
        episodes.forEach(episode -> faults.add(fault(episode)));
        return faults;
    }

    private static JsonObject fault(Episode episode) {
        var json = new JsonObject()
                .put("fault", episode.code().slug())
                .put("since", episode.since().toString())
                .put("observations", episode.observations())
                .put("recoveryAction", episode.action().name().toLowerCase(Locale.ROOT))
                .put("event", episode.eventId())
                .put("actedUpon", episode.acts() && !episode.restraint().any())
                .put("waitsFor", waitsFor(episode));
        return episode.forgotten() ? json.put("forgotten", FORGOTTEN) : json;
    }

    private static String waitsFor(Episode episode) {
        if (episode.restraint().grace()) {
            return "end of grace";
        }
        return episode.restraint().threshold() ? "threshold" : "";
    }

    private static JsonObject drain(NodeState state) {
        DrainProgress progress = state.acting().drain();
        var json = new JsonObject()
                .put("order", state.drainOrder().text())
                .put("phase", progress.phase().name().toLowerCase(Locale.ROOT))
                .put("jobs", new JsonArray(progress.jobs()))
                .put("message", progress.message());
        return progress.active() ? json.put("since", progress.since().toString()) : json;
    }

    private static JsonObject remediation(RemediationProgress progress) {
        return new JsonObject()
                .put("name", progress.remediation().name())
                .put("action", progress.remediation().action().slug())
                .put("attempt", progress.remediation().attempt())
                .put("phase", progress.phase().name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .put("at", progress.at().toString())
                .put("deadline", progress.remediation().deadline().toString())
                .put("message", progress.message());
    }

    private static JsonObject desired(DesiredNode desired, String outcome) {
        return new JsonObject()
                .put("taint", desired.taint())
                .put("cordon", desired.cordon())
                .put("label", desired.label())
                .put("recommendedAction", desired.recommendedAction())
                .put("condition", desired.condition().status())
                .put("message", desired.condition().message())
                .put("outcome", outcome);
    }
}
