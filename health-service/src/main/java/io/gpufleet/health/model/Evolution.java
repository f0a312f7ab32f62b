package io.gpufleet.health.model;

import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** {@code apply(state, event) -> state}: the only place where a state comes from. Decides nothing. */
public final class Evolution {
    private Evolution() {}

    /** The state after the event. */
    public static NodeState apply(NodeState state, HealthEvent event) {
        return switch (event) {
            case HealthEvent.BootLearned(NodeState.Boot boot) -> with(state, boot, state.nodeUid());
            case HealthEvent.NodeObjectLearned(String uid) -> with(state, state.boot(), uid);
            case HealthEvent.DeviceHeardOf(String uuid, String model, boolean listed, boolean lost) ->
                device(state, uuid, known -> known.heardOf(model, listed, lost));
            case HealthEvent.OpinionHeard(String uuid, boolean healthy) ->
                device(state, uuid, known -> known.opined(healthy));
            case HealthEvent.EpisodeKept(String uuid, Episode episode) ->
                episodes(state, uuid, open -> open.put(episode.code(), episode));
            case HealthEvent.EpisodeEnded(String uuid, FaultCode code) ->
                episodes(state, uuid, open -> open.remove(code));
            case HealthEvent.DeviceMoved(String uuid, DeviceHealth health) ->
                device(state, uuid, known -> known.with(health));
            case HealthEvent.DeviceForgotten(String uuid) -> {
                var devices = new TreeMap<>(state.devices());
                devices.remove(uuid);
                yield with(state, devices);
            }
            case HealthEvent.QuarantineSet(Quarantine quarantine) ->
                with(state, state.standing(), quarantine, state.hand(), state.revision());
            case HealthEvent.HandSet(OperatorHand hand) ->
                with(state, state.standing(), state.quarantine(), hand, state.revision());
            case HealthEvent.NodeMoved(NodeStanding standing) ->
                with(state, standing, state.quarantine(), state.hand(), state.revision());
            case HealthEvent.VerdictReached(long revision) ->
                with(state, state.standing(), state.quarantine(), state.hand(), revision);
        };
    }

    /** What may be done to a map of episodes. */
    private interface Edit {
        @Nullable
        Episode on(SequencedMap<FaultCode, Episode> open);
    }

    private static NodeState episodes(NodeState state, String uuid, Edit edit) {
        var open = new TreeMap<>(state.episodesOf(uuid));
        edit.on(open);
        if (!uuid.isEmpty()) {
            return device(state, uuid, known -> known.with(open));
        }
        return new NodeState(
                state.node(),
                state.boot(),
                state.nodeUid(),
                state.devices(),
                open,
                state.standing(),
                state.quarantine(),
                state.hand(),
                state.revision());
    }

    private static NodeState device(NodeState state, String uuid, UnaryOperator<Device> change) {
        var devices = new TreeMap<>(state.devices());
        Device known = state.device(uuid)
                .orElseGet(() -> Device.unknown(
                        uuid, new DeviceHealth.Healthy(state.standing().since())));
        devices.put(uuid, change.apply(known));
        return with(state, devices);
    }

    private static NodeState with(NodeState state, SequencedMap<String, Device> devices) {
        return new NodeState(
                state.node(),
                state.boot(),
                state.nodeUid(),
                devices,
                state.episodes(),
                state.standing(),
                state.quarantine(),
                state.hand(),
                state.revision());
    }

    private static NodeState with(NodeState state, NodeState.Boot boot, String nodeUid) {
        return new NodeState(
                state.node(),
                boot,
                nodeUid,
                state.devices(),
                state.episodes(),
                state.standing(),
                state.quarantine(),
                state.hand(),
                state.revision());
    }

    private static NodeState with(
            NodeState state,
            NodeStanding standing,
            @Nullable Quarantine quarantine,
            @Nullable OperatorHand hand,
            long revision) {
        return new NodeState(
                state.node(),
                state.boot(),
                state.nodeUid(),
                state.devices(),
                state.episodes(),
                standing,
                quarantine,
                hand,
                revision);
    }
}
