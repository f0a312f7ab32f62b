package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeObjectState;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.inventory.v1.Presence;
import io.gpufleet.proto.inventory.v1.ViewedHolder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Maps the state of a node to its view on {@code gpu.nodes} and back, without loss. */
public final class NodeViewMapper {
    private NodeViewMapper() {}

    /** The view of a node; the engine adds the applied sequences. */
    public static NodeView wire(NodeState node) {
        var wire = NodeView.newBuilder()
                .setNode(node.name())
                .setRevision(node.revision())
                .setNodeVerdict(node.verdicts().node())
                .putAllDeviceVerdicts(node.verdicts().devices())
                .setNodeUid(node.object().uid())
                .addAllLabelConflicts(node.object().labelConflicts());
        node.lastAnnouncement()
                .ifPresent(announcement -> wire.setAnnounced(AnnouncementMapper.wire(announcement))
                        .setAnnouncedAt(WireTimes.timestamp(announcement.appendedAt())));
        io.gpufleet.inventory.model.Presence presence = node.presence();
        if (presence != null) {
            wire.setPresence(
                            switch (presence) {
                                case io.gpufleet.inventory.model.Presence.Present _ -> Presence.PRESENCE_PRESENT;
                                case io.gpufleet.inventory.model.Presence.Departed _ -> Presence.PRESENCE_DEPARTED;
                                case io.gpufleet.inventory.model.Presence.Lost _ -> Presence.PRESENCE_LOST;
                            })
                    .setPresenceSince(WireTimes.timestamp(presence.since()));
        }
        node.holders()
                .forEach(holder -> wire.addHolders(ViewedHolder.newBuilder()
                        .setNamespace(holder.namespace())
                        .setPod(holder.pod())
                        .setContainer(holder.container())
                        .addAllDeviceIds(holder.deviceIds())));
        NodeSettings settings = node.object().settings();
        if (settings != null) {
            wire.setSettings(settings(settings));
        }
        return wire.build();
    }

    /** The node of a view. */
    public static NodeState model(String name, NodeView wire) {
        return new NodeState(
                name,
                wire.getRevision(),
                wire.hasAnnounced()
                        ? AnnouncementMapper.model(wire.getAnnounced(), WireTimes.instant(wire.getAnnouncedAt()))
                        : null,
                presence(wire),
                new Verdicts(
                        wire.getNodeVerdict().isEmpty() ? Verdicts.TRUSTED : wire.getNodeVerdict(),
                        wire.getDeviceVerdictsMap()),
                wire.getHoldersList().stream()
                        .map(holder -> new Holder(
                                holder.getNamespace(),
                                holder.getPod(),
                                holder.getContainer(),
                                holder.getDeviceIdsList()))
                        .toList(),
                object(wire));
    }

    private static NodeObjectState object(NodeView wire) {
        return new NodeObjectState(
                wire.getNodeUid(),
                wire.hasSettings()
                        ? new NodeSettings(
                                wire.getSettings().getDevicePluginConfig(),
                                wire.getSettings().getMigConfig())
                        : null,
                wire.getLabelConflictsList());
    }

    static io.gpufleet.proto.inventory.v1.NodeSettings settings(NodeSettings settings) {
        return io.gpufleet.proto.inventory.v1.NodeSettings.newBuilder()
                .setDevicePluginConfig(settings.devicePluginConfig())
                .setMigConfig(settings.migConfig())
                .build();
    }

    private static io.gpufleet.inventory.model.@Nullable Presence presence(NodeView wire) {
        Instant since = WireTimes.instant(wire.getPresenceSince());
        return switch (wire.getPresence()) {
            case PRESENCE_PRESENT -> new io.gpufleet.inventory.model.Presence.Present(since);
            case PRESENCE_DEPARTED -> new io.gpufleet.inventory.model.Presence.Departed(since);
            case PRESENCE_LOST -> new io.gpufleet.inventory.model.Presence.Lost(since);
            case PRESENCE_UNSPECIFIED, UNRECOGNIZED -> null;
        };
    }
}
