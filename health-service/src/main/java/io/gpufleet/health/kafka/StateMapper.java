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
import io.gpufleet.health.model.device.NodeHardware;
import io.gpufleet.health.model.fault.Faults;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.maintenance.Maintenance;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.FormerDevice;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.Override;
import io.gpufleet.runtime.projection.Interner;
import java.time.Instant;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Maps the state of a node to its changelog record and back, without loss; a record that it cannot read throws. */
final class StateMapper {
    /** Models and bus ids, which are those of every node of a machine type. */
    private static final Interner<String> TEXTS = new Interner<>(10_000);

    /** Every presence there is, by its bits. */
    private static final List<Device.Presence> PRESENCES = IntStream.range(0, 16)
            .mapToObj(bits -> new Device.Presence((bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0))
            .toList();

    private StateMapper() {}

    static NodeHealthState toWire(NodeState state) {
        var wire = NodeHealthState.newBuilder()
                .setBootId(state.boot().id())
                .setBootEpoch(state.boot().epoch())
                .setMostDevices(state.boot().gpus().count())
                .setDaemonForgot(state.boot().gpus().daemonForgot())
                .addAllFormerBootIds(state.boot().formers())
                .setNodeUid(state.node().uid())
                .setState(EnumMapping.toWire(state.health().state()))
                .setWithdrawsEveryDevice(state.health().withdrawsEveryDevice())
                .setNodeAction(EnumMapping.toWire(state.health().nodeAction()))
                .setSince(TimestampMapping.toWire(state.health().since()))
                .setReason(state.health().reason())
                .setRecommendedAction(EnumMapping.toWire(state.health().recommendedAction()))
                .setVerdictRevision(state.revision())
                .setCauseRevision(state.revisions().cause());
        if (state.boot().began().isAfter(Instant.EPOCH)) {
            wire.setBootBegan(TimestampMapping.toWire(state.boot().began()));
        }
        if (state.boot().gpus().knownSince().isAfter(Instant.EPOCH)) {
            wire.setGpusKnownSince(TimestampMapping.toWire(state.boot().gpus().knownSince()));
        }
        wire.addAllSeen(FaultsMapper.seen(state.faults()));
        wire.addAllAttempts(FaultsMapper.attempts(state.faults().history()));
        state.devices().values().forEach(device -> wire.addDevices(toWire(device)));
        writeFormerDevices(state, wire);
        state.episodes().values().forEach(episode -> wire.addNodeEpisodes(FaultsMapper.toWire(episode)));
        writeHeldBack(state, wire);
        NodeReference.Placement placement = state.node().placement();
        if (placement.observed()) {
            wire.putAllLabels(placement.labels()).setUsable(placement.usable()).setReady(placement.ready());
        }
        if (!state.node().presence().equals(Presence.HEARD)) {
            wire.setPresence(PresenceMapper.toWire(state.node().presence()));
        }
        DrainMapper.write(state, wire);
        RemediationMapper.write(state, wire);
        Maintenance maintenance = state.manual().maintenance();
        if (maintenance != null) {
            wire.setMaintenanceNote(maintenance.note())
                    .setMaintenanceSince(TimestampMapping.toWire(maintenance.since()));
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

    private static void writeFormerDevices(NodeState state, NodeHealthState.Builder wire) {
        state.hardware()
                .former()
                .values()
                .forEach(left -> wire.addFormerDevices(FormerDevice.newBuilder()
                        .setDevice(toWire(left.device()))
                        .setSince(TimestampMapping.toWire(left.since()))));
    }

    private static void writeHeldBack(NodeState state, NodeHealthState.Builder wire) {
        if (state.acting().policyTainted().isAfter(Instant.EPOCH)) {
            wire.setPolicyTainted(TimestampMapping.toWire(state.acting().policyTainted()));
        }
        state.heldBack()
                .forEach((device, heldBack) -> wire.addHeldBack(io.gpufleet.proto.health.v1.HeldBack.newBuilder()
                        .setDeviceUuid(device)
                        .setSince(TimestampMapping.toWire(heldBack.since()))
                        .setBy(heldBack.by())));
    }

    static NodeState toModel(String node, NodeHealthState wire) {
        Instant since = TimestampMapping.fromWire(wire.getSince());
        var health = new NodeHealth(
                EnumMapping.state(wire.getState()),
                since,
                wire.getReason(),
                EnumMapping.recommendedAction(EnumMapping.recognized(wire.getRecommendedAction())),
                DrainMapper.order(wire),
                EnumMapping.nodeAction(EnumMapping.recognized(wire.getNodeAction())),
                wire.getWithdrawsEveryDevice());
        return new NodeState(
                new NodeReference(
                        node,
                        wire.getNodeUid(),
                        wire.hasNodeGoneSince() ? TimestampMapping.fromWire(wire.getNodeGoneSince()) : null,
                        wire.hasUsable()
                                ? new NodeReference.Placement(
                                        wire.getLabelsMap(),
                                        wire.getUsable(),
                                        true,
                                        !wire.hasReady() || wire.getReady())
                                : NodeReference.Placement.UNKNOWN,
                        PresenceMapper.toModel(wire.getPresence())),
                new NodeState.Boot(
                        wire.getBootId(),
                        wire.getBootEpoch(),
                        wire.hasBootBegan() ? TimestampMapping.fromWire(wire.getBootBegan()) : Instant.EPOCH,
                        new NodeState.LearnedGpus(
                                wire.getMostDevices(),
                                wire.hasGpusKnownSince()
                                        ? TimestampMapping.fromWire(wire.getGpusKnownSince())
                                        : Instant.EPOCH,
                                wire.getDaemonForgot()),
                        wire.getFormerBootIdsList()),
                hardware(wire),
                new Faults(
                        FaultsMapper.episodes(wire.getNodeEpisodesList()),
                        FaultsMapper.seen(wire.getSeenList()),
                        new RepairHistory(FaultsMapper.attempts(wire.getAttemptsList()), Instant.EPOCH)),
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
                                : null,
                        wire.hasMaintenanceSince()
                                ? new Maintenance(
                                        TimestampMapping.fromWire(wire.getMaintenanceSince()),
                                        wire.getMaintenanceNote())
                                : null),
                new NodeState.Revisions(wire.getVerdictRevision(), wire.getCauseRevision()),
                DrainMapper.acting(heldBack(wire.getHeldBackList()), wire));
    }

    private static NodeHardware hardware(NodeHealthState wire) {
        var devices = new TreeMap<String, Device>();
        wire.getDevicesList().forEach(device -> devices.put(device.getDeviceUuid(), toModel(device)));
        var former = new TreeMap<String, NodeHardware.FormerDevice>();
        wire.getFormerDevicesList()
                .forEach(left -> former.put(
                        left.getDevice().getDeviceUuid(),
                        new NodeHardware.FormerDevice(
                                toModel(left.getDevice()), TimestampMapping.fromWire(left.getSince()))));
        return new NodeHardware(devices, former);
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
        device.episodes().values().forEach(episode -> wire.addEpisodes(FaultsMapper.toWire(episode)));
        wire.setSerial(device.identity().serial())
                .setPciBusId(device.identity().slot())
                .setLearned(device.presence().learned())
                .addAllSeen(FaultsMapper.seen(device.faults()))
                .addAllAttempts(FaultsMapper.attempts(device.history()));
        if (device.history().recovered().isAfter(Instant.EPOCH)) {
            wire.setRecovered(TimestampMapping.toWire(device.history().recovered()));
        }
        return wire.build();
    }

    private static Device toModel(DeviceHealthState wire) {
        return new Device(
                wire.getDeviceUuid(),
                new Device.Identity(TEXTS.intern(wire.getModel()), wire.getSerial(), TEXTS.intern(wire.getPciBusId())),
                presence(wire),
                FaultsMapper.device(wire),
                health(wire));
    }

    private static Device.Presence presence(DeviceHealthState wire) {
        boolean learned = wire.hasLearned() ? wire.getLearned() : wire.getListed();
        return PRESENCES.get((wire.getListed() ? 1 : 0)
                + (wire.getLost() ? 2 : 0)
                + (wire.getLocallyHealthy() ? 4 : 0)
                + (learned ? 8 : 0));
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
}
