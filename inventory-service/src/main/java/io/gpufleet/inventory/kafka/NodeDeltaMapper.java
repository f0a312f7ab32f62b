package io.gpufleet.inventory.kafka;

import com.google.protobuf.Message;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/** Maps an input to the deltas of its node. */
final class NodeDeltaMapper {
    private NodeDeltaMapper() {}

    /** The deltas of one input, in order; none for an input that means nothing to the inventory. */
    static List<NodeDelta> deltas(Inbound input) {
        var deltas = new ArrayList<NodeDelta>();
        switch (input) {
            case Inbound.Event event ->
                payload(event.payload(), event.appendedAt()).ifPresent(deltas::add);
            case Inbound.Tombstone tombstone -> {
                if (tombstone.topic() == Topic.VERDICTS) {
                    deltas.add(new NodeDelta.VerdictsChanged(Verdicts.NONE));
                }
            }
            case Inbound.Heartbeat _ -> {}
        }
        if (fromDaemon(input)) {
            deltas.add(new NodeDelta.HeartbeatReceived(input.appendedAt()));
        }
        return deltas;
    }

    /** Whether the input shows that the daemon of its node is alive. */
    static boolean fromDaemon(Inbound input) {
        return switch (input) {
            case Inbound.Event event -> event.envelope().source() instanceof EventSource.Node;
            case Inbound.Heartbeat _ -> true;
            case Inbound.Tombstone _ -> false;
        };
    }

    private static Optional<NodeDelta> payload(Message payload, Instant appendedAt) {
        return switch (payload) {
            case NodeAnnounced announced ->
                Optional.of(new NodeDelta.NodeAnnounced(AnnouncementMapper.model(announced, appendedAt)));
            case NodeDeparted departed -> Optional.of(new NodeDelta.NodeDeparted(departed.getBootId(), appendedAt));
            case NodeVerdict verdict -> Optional.of(new NodeDelta.VerdictsChanged(verdicts(verdict)));
            case DevicesHeld held -> Optional.of(new NodeDelta.HoldersChanged(holders(held)));
            case KubernetesFact fact -> fact(fact);
            default -> Optional.empty();
        };
    }

    private static Optional<NodeDelta> fact(KubernetesFact fact) {
        return switch (fact.getFactCase()) {
            case NODE ->
                Optional.of(new NodeDelta.NodeObjectObserved(
                        fact.getNode().getUid(), NodeSettings.of(fact.getNode().getLabelsMap())));
            case NODE_DELETED ->
                Optional.of(
                        new NodeDelta.NodeObjectDeleted(fact.getNodeDeleted().getUid()));
            case PATCH ->
                fact.getPatch().getTarget().equals(SignalSender.LABELS)
                        ? Optional.of(
                                new NodeDelta.LabelsApplied(fact.getPatch().getConflictsList()))
                        : Optional.empty();
            case OVERRIDE, POD, DRAIN, REMEDIATION, FACT_NOT_SET -> Optional.empty();
        };
    }

    private static Verdicts verdicts(NodeVerdict verdict) {
        var devices = new TreeMap<String, String>();
        verdict.getDevicesList().forEach(device -> devices.put(device.getDeviceUuid(), stateName(device.getState())));
        return new Verdicts(
                verdict.getState() == HealthState.HEALTH_STATE_UNSPECIFIED
                        ? Verdicts.TRUSTED
                        : stateName(verdict.getState()),
                devices);
    }

    private static String stateName(HealthState state) {
        return state == HealthState.UNRECOGNIZED || state == HealthState.HEALTH_STATE_UNSPECIFIED
                ? "unknown"
                : state.name().substring("HEALTH_STATE_".length()).toLowerCase(Locale.ROOT);
    }

    private static List<Holder> holders(DevicesHeld held) {
        return held.getHoldersList().stream()
                .map(holder -> new Holder(
                        holder.getNamespace(),
                        holder.getPod(),
                        holder.getContainer(),
                        holder.getDevicesList().stream()
                                .map(device -> device.getId())
                                .toList()))
                .toList();
    }
}
