package io.gpufleet.health.kafka;

import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.proto.health.v1.DaemonState;
import io.gpufleet.proto.health.v1.NodePresence;
import java.time.Instant;

/** Maps whether a node is heard to its part of the changelog record and back. */
final class PresenceMapper {
    private PresenceMapper() {}

    static NodePresence toWire(Presence presence) {
        var wire = NodePresence.newBuilder()
                .setDaemon(
                        switch (presence.daemon()) {
                            case HEARD -> DaemonState.DAEMON_STATE_HEARD;
                            case SILENT -> DaemonState.DAEMON_STATE_SILENT;
                            case DEPARTED -> DaemonState.DAEMON_STATE_DEPARTED;
                        })
                .setReason(presence.reason());
        if (presence.since().isAfter(Instant.EPOCH)) {
            wire.setSince(TimestampMapping.toWire(presence.since()));
        }
        presence.losses().forEach(at -> wire.addLosses(TimestampMapping.toWire(at)));
        return wire.build();
    }

    /** Older records do not have it: the node is heard. */
    static Presence toModel(NodePresence wire) {
        Presence.Daemon daemon = switch (EnumMapping.recognized(wire.getDaemon())) {
            case DAEMON_STATE_SILENT -> Presence.Daemon.SILENT;
            case DAEMON_STATE_DEPARTED -> Presence.Daemon.DEPARTED;
            case DAEMON_STATE_UNSPECIFIED, DAEMON_STATE_HEARD, UNRECOGNIZED -> Presence.Daemon.HEARD;
        };
        return new Presence(
                daemon,
                wire.hasSince() ? TimestampMapping.fromWire(wire.getSince()) : Instant.EPOCH,
                wire.getLossesList().stream().map(TimestampMapping::fromWire).toList(),
                wire.getReason());
    }
}
