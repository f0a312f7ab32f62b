package io.gpufleet.health.kafka;

import io.gpufleet.health.model.Cause;
import io.gpufleet.health.model.Device;
import io.gpufleet.health.model.DeviceHealth;
import io.gpufleet.health.model.Episode;
import io.gpufleet.health.model.FaultCode;
import io.gpufleet.health.model.HealthState;
import io.gpufleet.health.model.NodeStanding;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.OperatorHand;
import io.gpufleet.health.model.Quarantine;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.EpisodeState;
import io.gpufleet.proto.health.v1.NodeHealth;
import io.gpufleet.proto.health.v1.Override;
import java.time.Instant;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;

/** The whole state of a node to its changelog record and back: what is read equals what was written. */
final class StateMapper {
    private StateMapper() {}

    static NodeHealth toWire(NodeState state) {
        var wire = NodeHealth.newBuilder()
                .setBootId(state.boot().id())
                .setBootEpoch(state.boot().epoch())
                .setNodeUid(state.nodeUid())
                .setState(Words.toWire(state.standing().state()))
                .setSince(Times.toWire(state.standing().since()))
                .setReason(state.standing().reason())
                .setNextStep(Words.toWire(state.standing().step()))
                .setVerdictRevision(state.revision());
        state.devices().values().forEach(device -> wire.addDevices(toWire(device)));
        state.episodes().values().forEach(episode -> wire.addNodeEpisodes(toWire(episode)));
        Quarantine quarantine = state.quarantine();
        if (quarantine != null) {
            wire.setNote(quarantine.note());
        }
        OperatorHand hand = state.hand();
        if (hand != null) {
            wire.setOverride(Override.newBuilder()
                    .setSince(Times.toWire(hand.since()))
                    .setBy(hand.by())
                    .setMark(hand.mark()));
        }
        return wire.build();
    }

    static NodeState toModel(String node, NodeHealth wire) {
        var devices = new TreeMap<String, Device>();
        wire.getDevicesList().forEach(device -> devices.put(device.getDeviceUuid(), toModel(device)));
        Instant since = Times.fromWire(wire.getSince());
        var standing =
                new NodeStanding(Words.state(wire.getState()), since, wire.getReason(), Words.step(wire.getNextStep()));
        return new NodeState(
                node,
                new NodeState.Boot(wire.getBootId(), wire.getBootEpoch()),
                wire.getNodeUid(),
                devices,
                episodes(wire.getNodeEpisodesList()),
                standing,
                standing.state() == HealthState.QUARANTINED ? new Quarantine(since, wire.getNote()) : null,
                wire.hasOverride()
                        ? new OperatorHand(
                                Times.fromWire(wire.getOverride().getSince()),
                                wire.getOverride().getBy(),
                                wire.getOverride().getMark())
                        : null,
                wire.getVerdictRevision());
    }

    private static DeviceHealthState toWire(Device device) {
        DeviceHealth health = device.health();
        var wire = DeviceHealthState.newBuilder()
                .setDeviceUuid(device.uuid())
                .setModel(device.model())
                .setState(Words.toWire(health.state()))
                .setSince(Times.toWire(health.since()))
                .setReason(health.reason())
                .setNextStep(Words.toWire(health.step()))
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
                health(wire));
    }

    private static DeviceHealth health(DeviceHealthState wire) {
        Instant since = Times.fromWire(wire.getSince());
        var cause = new Cause(wire.getReason(), Words.step(wire.getNextStep()));
        return switch (Words.state(wire.getState())) {
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
                .setKind(Words.toWire(episode.code().kind()))
                .setXid(episode.code().number())
                .setRecoveryAction(Words.toWire(episode.action()))
                .setSince(Times.toWire(episode.since()))
                .setObservations(episode.observations())
                .setBootId(episode.bootId())
                .setEventId(episode.eventId())
                .setActs(episode.acts())
                .build();
    }

    private static SequencedMap<FaultCode, Episode> episodes(List<EpisodeState> wire) {
        var episodes = new TreeMap<FaultCode, Episode>();
        wire.forEach(open -> {
            FaultCode code = Words.code(open.getKind(), open.getXid());
            episodes.put(
                    code,
                    new Episode(
                            code,
                            Words.action(open.getRecoveryAction()),
                            Times.fromWire(open.getSince()),
                            open.getObservations(),
                            open.getBootId(),
                            open.getEventId(),
                            open.getActs()));
        });
        return episodes;
    }
}
