package io.gpufleet.health.kafka;

import io.gpufleet.health.model.HeldBack;
import io.gpufleet.health.model.ManualOverride;
import io.gpufleet.health.model.NodeHealth;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Quarantine;
import io.gpufleet.health.model.device.Cause;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.device.Recurrence;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultKind;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.fault.Withdrawal;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.EpisodeState;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.Override;
import java.time.Instant;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;

/** Maps the state of a node to its changelog record and back, without loss; a record that it cannot read throws. */
final class StateMapper {
    private StateMapper() {}

    static NodeHealthState toWire(NodeState state) {
        var wire = NodeHealthState.newBuilder()
                .setBootId(state.boot().id())
                .setBootEpoch(state.boot().epoch())
                .setMostDevices(state.boot().devices())
                .setNodeUid(state.node().uid())
                .setState(EnumMapping.toWire(state.health().state()))
                .setWithdrawsEveryDevice(state.health().withdrawsEveryDevice())
                .setSince(TimestampMapping.toWire(state.health().since()))
                .setReason(state.health().reason())
                .setRecommendedAction(EnumMapping.toWire(state.health().recommendedAction()))
                .setVerdictRevision(state.revision())
                .setCauseRevision(state.revisions().cause());
        state.devices().values().forEach(device -> wire.addDevices(toWire(device)));
        state.episodes().values().forEach(episode -> wire.addNodeEpisodes(toWire(episode)));
        state.heldBack()
                .forEach((device, heldBack) -> wire.addHeldBack(io.gpufleet.proto.health.v1.HeldBack.newBuilder()
                        .setDeviceUuid(device)
                        .setSince(TimestampMapping.toWire(heldBack.since()))
                        .setBy(heldBack.by())));
        NodeReference.Placement placement = state.node().placement();
        if (placement.observed()) {
            wire.putAllLabels(placement.labels()).setUsable(placement.usable());
        }
        Quarantine quarantine = state.quarantine();
        if (quarantine != null) {
            wire.setNote(quarantine.note()).setNoteEventId(quarantine.eventId());
        }
        Instant goneSince = state.node().goneSince();
        if (goneSince != null) {
            wire.setNodeGoneSince(TimestampMapping.toWire(goneSince));
        }
        ManualOverride override = state.override();
        if (override != null) {
            wire.setOverride(Override.newBuilder()
                    .setSince(TimestampMapping.toWire(override.since()))
                    .setBy(override.by())
                    .setTarget(override.target()));
        }
        return wire.build();
    }

    static NodeState toModel(String node, NodeHealthState wire) {
        var devices = new TreeMap<String, Device>();
        wire.getDevicesList().forEach(device -> devices.put(device.getDeviceUuid(), toModel(device)));
        Instant since = TimestampMapping.fromWire(wire.getSince());
        var health = new NodeHealth(
                EnumMapping.state(wire.getState()),
                since,
                wire.getReason(),
                EnumMapping.recommendedAction(EnumMapping.recognized(wire.getRecommendedAction())),
                wire.getWithdrawsEveryDevice());
        return new NodeState(
                new NodeReference(
                        node,
                        wire.getNodeUid(),
                        wire.hasNodeGoneSince() ? TimestampMapping.fromWire(wire.getNodeGoneSince()) : null,
                        wire.hasUsable()
                                ? new NodeReference.Placement(wire.getLabelsMap(), wire.getUsable())
                                : NodeReference.Placement.UNKNOWN),
                new NodeState.Boot(wire.getBootId(), wire.getBootEpoch(), wire.getMostDevices()),
                devices,
                episodes(wire.getNodeEpisodesList()),
                health,
                new NodeState.Manual(
                        health.state() == HealthState.QUARANTINED
                                ? new Quarantine(since, wire.getNote(), wire.getNoteEventId())
                                : null,
                        wire.hasOverride()
                                ? new ManualOverride(
                                        TimestampMapping.fromWire(
                                                wire.getOverride().getSince()),
                                        wire.getOverride().getBy(),
                                        wire.getOverride().getTarget())
                                : null),
                new NodeState.Revisions(wire.getVerdictRevision(), wire.getCauseRevision()),
                heldBack(wire.getHeldBackList()));
    }

    private static SequencedMap<String, HeldBack> heldBack(List<io.gpufleet.proto.health.v1.HeldBack> wire) {
        var heldBack = new TreeMap<String, HeldBack>();
        wire.forEach(held -> heldBack.put(
                held.getDeviceUuid(), new HeldBack(TimestampMapping.fromWire(held.getSince()), held.getBy())));
        return heldBack;
    }

    private static DeviceHealthState toWire(Device device) {
        DeviceHealth health = device.health();
        var wire = DeviceHealthState.newBuilder()
                .setDeviceUuid(device.uuid())
                .setModel(device.model())
                .setState(EnumMapping.toWire(health.state()))
                .setSince(TimestampMapping.toWire(health.since()))
                .setReason(health.reason())
                .setRecommendedAction(EnumMapping.toWire(health.recommendedAction()))
                .setLocallyHealthy(device.locallyHealthy())
                .setListed(device.listed())
                .setLost(device.lost())
                .setNote(
                        switch (health) {
                            case DeviceHealth.Quarantined quarantined -> quarantined.note();
                            case DeviceHealth.Retired retired -> retired.note();
                            case DeviceHealth.Healthy _,
                                    DeviceHealth.Suspect _,
                                    DeviceHealth.Unhealthy _,
                                    DeviceHealth.Recovering _,
                                    DeviceHealth.Lost _ -> "";
                        });
        device.episodes().values().forEach(episode -> wire.addEpisodes(toWire(episode)));
        Recurrence recurrence = device.recurrence();
        if (!recurrence.equals(Recurrence.NONE)) {
            wire.setRecurrenceBoots(recurrence.boots())
                    .setRecurrenceLast(TimestampMapping.toWire(recurrence.last()))
                    .setRecurrenceBootId(recurrence.bootId());
        }
        return wire.build();
    }

    private static Device toModel(DeviceHealthState wire) {
        return new Device(
                wire.getDeviceUuid(),
                wire.getModel(),
                wire.getListed(),
                wire.getLost(),
                wire.getLocallyHealthy(),
                episodes(wire.getEpisodesList()),
                health(wire),
                wire.hasRecurrenceLast()
                        ? new Recurrence(
                                wire.getRecurrenceBoots(),
                                TimestampMapping.fromWire(wire.getRecurrenceLast()),
                                wire.getRecurrenceBootId())
                        : Recurrence.NONE);
    }

    private static DeviceHealth health(DeviceHealthState wire) {
        Instant since = TimestampMapping.fromWire(wire.getSince());
        var cause = new Cause(
                wire.getReason(), EnumMapping.recommendedAction(EnumMapping.recognized(wire.getRecommendedAction())));
        return switch (EnumMapping.state(wire.getState())) {
            case HEALTHY -> new DeviceHealth.Healthy(since);
            case SUSPECT -> new DeviceHealth.Suspect(since, cause);
            case UNHEALTHY -> new DeviceHealth.Unhealthy(since, cause);
            case RECOVERING -> new DeviceHealth.Recovering(since, wire.getReason());
            case QUARANTINED -> new DeviceHealth.Quarantined(since, wire.getNote());
            case RETIRED -> new DeviceHealth.Retired(since, wire.getNote());
            case LOST -> new DeviceHealth.Lost(since);
        };
    }

    private static EpisodeState toWire(Episode episode) {
        return EpisodeState.newBuilder()
                .setKind(EnumMapping.toWire(episode.code().kind()))
                .setXid(
                        episode.code().kind() == FaultKind.RECOVERY_ACTION
                                ? 0
                                : episode.code().number())
                .setRecoveryAction(EnumMapping.toWire(episode.action()))
                .setWithdraws(episode.withdrawnByNode())
                .setWithdrawalRule(
                        EnumMapping.toWire(episode.report().withdrawal().rule()))
                .setSubcode(episode.report().subcode())
                .setSince(TimestampMapping.toWire(episode.since()))
                .setObservations(episode.observations())
                .setBootId(episode.bootId())
                .setEventId(episode.eventId())
                .setActs(episode.acts())
                .setInGrace(episode.inGrace())
                .build();
    }

    private static SequencedMap<FaultCode, Episode> episodes(List<EpisodeState> wire) {
        var episodes = new TreeMap<FaultCode, Episode>();
        wire.forEach(open -> {
            RecoveryAction action = EnumMapping.action(EnumMapping.recognized(open.getRecoveryAction()));
            FaultCode code = EnumMapping.code(EnumMapping.recognized(open.getKind()), open.getXid(), action);
            episodes.put(
                    code,
                    new Episode(
                            code,
                            new FaultReport(
                                    action,
                                    new Withdrawal(
                                            open.getWithdraws(),
                                            EnumMapping.rule(EnumMapping.recognized(open.getWithdrawalRule()))),
                                    open.getSubcode()),
                            TimestampMapping.fromWire(open.getSince()),
                            open.getObservations(),
                            open.getBootId(),
                            open.getEventId(),
                            open.getActs(),
                            open.getInGrace()));
        });
        return episodes;
    }
}
