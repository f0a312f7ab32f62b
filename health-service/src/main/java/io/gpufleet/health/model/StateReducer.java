package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.Faults;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.maintenance.Maintenance;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.health.model.remediation.RemediationProgress;
import java.time.Instant;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** {@code apply(state, event) -> state}: the only place that changes a state. Decides nothing. */
public final class StateReducer {
    private StateReducer() {}

    /** The state after the event. */
    public static NodeState apply(NodeState state, NodeStateChange event) {
        return switch (event) {
            case NodeStateChange.BootChanged(NodeState.Boot boot) -> state.withBoot(boot);
            case NodeStateChange.NodeUidChanged(String uid) ->
                state.withNode(state.node().withUid(uid));
            case NodeStateChange.NodeGone(Instant since) ->
                state.withNode(state.node().gone(since));
            case NodeStateChange.PlacementChanged(NodeReference.Placement placement) ->
                state.withNode(state.node().with(placement));
            case NodeStateChange.PresenceChanged(Presence presence) ->
                state.withNode(state.node().with(presence));
            case NodeStateChange.DrainChanged(DrainProgress progress) -> state.with(progress);
            case NodeStateChange.RemediationChanged(RemediationProgress progress) -> state.with(progress);
            case NodeStateChange.HoldingsChanged(Holdings holdings) -> state.with(holdings);
            case NodeStateChange.HeldBackChanged(SequencedMap<String, HeldBack> heldBack) ->
                state.withHeldBack(heldBack);
            case NodeStateChange.PolicyTainted(Instant at) -> state.withPolicyTainted(at);
            case NodeStateChange.DeviceUpdated(String uuid, Device.Identity identity, boolean listed, boolean lost) ->
                updateDevice(state, uuid, device -> device.withAnnouncement(identity, listed, lost));
            case NodeStateChange.DeviceUnlearned(String uuid) -> updateDevice(state, uuid, Device::withoutLearning);
            case NodeStateChange.HealthReported(String uuid, boolean healthy) ->
                updateDevice(state, uuid, device -> device.withLocalHealth(healthy));
            case NodeStateChange.EpisodeUpdated(String uuid, Episode episode) ->
                updateEpisodes(state, uuid, open -> open.put(episode.code(), episode));
            case NodeStateChange.EpisodeEnded(String uuid, FaultCode code) ->
                updateEpisodes(state, uuid, open -> open.remove(code));
            case NodeStateChange.FaultSeen(String uuid, FaultCode code, List<Instant> times) ->
                updateFaults(state, uuid, faults -> faults.withSeen(code, times));
            case NodeStateChange.HistoryChanged(String uuid, RepairHistory history) ->
                updateFaults(state, uuid, faults -> faults.with(history));
            case NodeStateChange.FaultsForgotten(String uuid) -> updateFaults(state, uuid, Faults::forgotten);
            case NodeStateChange.DeviceHealthChanged(String uuid, DeviceHealth health) ->
                updateDevice(state, uuid, device -> device.with(health));
            case NodeStateChange.DeviceDeparted(String uuid, Instant at) ->
                state.with(state.hardware().departed(uuid, at));
            case NodeStateChange.DeviceReturned(String uuid) ->
                state.with(state.hardware().returned(uuid));
            case NodeStateChange.DeviceForgotten(String uuid) ->
                state.with(state.hardware().without(uuid));
            case NodeStateChange.QuarantineChanged(Quarantine quarantine) -> state.withQuarantine(quarantine);
            case NodeStateChange.MaintenanceChanged(Maintenance maintenance) -> state.withMaintenance(maintenance);
            case NodeStateChange.OverrideChanged(ManualOverride override) -> state.withOverride(override);
            case NodeStateChange.NodeHealthChanged(NodeHealth health) -> state.withHealth(health);
            case NodeStateChange.VerdictReached(NodeState.Revisions revisions) -> state.with(revisions);
        };
    }

    private static NodeState updateEpisodes(
            NodeState state, String uuid, Consumer<SequencedMap<FaultCode, Episode>> change) {
        var open = new TreeMap<>(state.episodesOf(uuid));
        change.accept(open);
        return updateFaults(state, uuid, faults -> faults.withOpen(open));
    }

    private static NodeState updateFaults(NodeState state, String uuid, UnaryOperator<Faults> change) {
        return uuid.isEmpty()
                ? state.withFaults(change.apply(state.faults()))
                : updateDevice(state, uuid, device -> device.with(change.apply(device.faults())));
    }

    private static NodeState updateDevice(NodeState state, String uuid, UnaryOperator<Device> change) {
        Device unknown =
                Device.unknown(uuid, new DeviceHealth.Healthy(state.health().since()));
        return state.with(state.hardware().with(uuid, unknown, change));
    }
}
