package io.gpufleet.wire;

import com.google.protobuf.Message;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageDay;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.proto.bus.v1.Positions;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealth;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.inventory.v1.NodeSettings;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.OperatorWord;
import io.gpufleet.proto.telemetry.v1.TelemetrySampled;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The catalogue of events: what each carries, on which topics it may stand, and who writes it. */
public enum EventType {
    /** What a node has. */
    NODE_ANNOUNCED("node.announced", NodeAnnounced.getDefaultInstance(), Writer.DAEMON, Topic.INVENTORY),
    /** A daemon stopped in good order. */
    NODE_DEPARTED("node.departed", NodeDeparted.getDefaultInstance(), Writer.DAEMON, Topic.INVENTORY),
    /** A fault was seen. */
    FAULT_OBSERVED("fault.observed", FaultObserved.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** A fault is proven gone. */
    FAULT_CLEARED("fault.cleared", FaultCleared.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** Every fault that is open now. */
    FAULTS_OPEN("faults.open", OpenFaults.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** What the kubelet is told now. */
    DEVICE_OFFERED("device.offered", DeviceOfferChanged.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** Allocate was answered. */
    DEVICES_ALLOCATED("devices.allocated", DevicesAllocated.getDefaultInstance(), Writer.DAEMON, Topic.ALLOCATION),
    /** Who holds what on a node. */
    DEVICES_HELD("devices.held", DevicesHeld.getDefaultInstance(), Writer.DAEMON, Topic.ALLOCATION),
    /** Samples of every device. */
    TELEMETRY_SAMPLED("telemetry.sampled", TelemetrySampled.getDefaultInstance(), Writer.DAEMON, Topic.TELEMETRY),
    /** A full outbox had to drop events. */
    EVENTS_LOST(
            "events.lost",
            EventsLost.getDefaultInstance(),
            Writer.DAEMON,
            Topic.INVENTORY,
            Topic.HEALTH,
            Topic.ALLOCATION,
            Topic.TELEMETRY),
    /** An operator spoke. */
    OPERATOR_SPOKE("operator.spoke", OperatorWord.getDefaultInstance(), Writer.ANY_SERVICE, Topic.SIGNALS),
    /** Something of Kubernetes was observed. */
    KUBERNETES_OBSERVED("kubernetes.observed", KubernetesFact.getDefaultInstance(), Writer.ANY_SERVICE, Topic.SIGNALS),
    /** A verdict was reached. */
    VERDICT_REACHED("verdict.reached", NodeVerdict.getDefaultInstance(), Writer.HEALTH_SERVICE, Topic.VERDICTS),
    /** A decision was taken or held back. */
    DECISION_TAKEN("decision.taken", DecisionTaken.getDefaultInstance(), Writer.HEALTH_SERVICE, Topic.DECISIONS),
    /** The machine state of a node changed. */
    HEALTH_CHANGED("health.changed", NodeHealth.getDefaultInstance(), Writer.HEALTH_SERVICE, Topic.HEALTH_STATE),
    /** The joined view of a node. */
    NODE_VIEWED(
            "node.viewed", NodeView.getDefaultInstance(), Writer.INVENTORY_SERVICE, Topic.NODES, Topic.NODES_HISTORY),
    /** Settings were chosen by Node labels. */
    SETTINGS_CHOSEN("settings.chosen", NodeSettings.getDefaultInstance(), Writer.INVENTORY_SERVICE, Topic.SETTINGS),
    /** The ledger of a node changed. */
    HOLDINGS_CHANGED("holdings.changed", NodeHoldings.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.HOLDINGS),
    /** An interval ended. */
    USAGE_CLOSED("usage.closed", UsageInterval.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE),
    /** An ended interval is corrected by a difference. */
    USAGE_ADJUSTED("usage.adjusted", UsageInterval.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE),
    /** The sum of a day changed. */
    USAGE_SUMMED("usage.summed", UsageDay.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE_DAILY),
    /** Up to where a service has read. */
    POSITIONS_KEPT(
            "positions.kept",
            Positions.getDefaultInstance(),
            Writer.ANY_SERVICE,
            Topic.HEALTH_STATE,
            Topic.NODES,
            Topic.HOLDINGS),
    /** Where the active replica of a service answers. */
    ACTIVE_CHANGED(
            "active.changed",
            ActiveReplica.getDefaultInstance(),
            Writer.ANY_SERVICE,
            Topic.HEALTH_STATE,
            Topic.NODES,
            Topic.HOLDINGS);

    /** Who may write an event. */
    public enum Writer {
        /** The node-daemon of the node that is the key. */
        DAEMON,
        /** Any of the three services. */
        ANY_SERVICE,
        /** The health-service. */
        HEALTH_SERVICE,
        /** The inventory-service. */
        INVENTORY_SERVICE,
        /** The allocation-service. */
        ALLOCATION_SERVICE
    }

    private static final Map<String, EventType> BY_NAME =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(EventType::ceType, Function.identity()));

    private final String ceType;
    private final Message prototype;
    private final Writer writer;
    private final Set<Topic> topics;

    EventType(String name, Message prototype, Writer writer, Topic... topics) {
        this.ceType = "io.gpufleet." + name + ".v1";
        this.prototype = prototype;
        this.writer = writer;
        this.topics = Set.of(topics);
    }

    /** The CloudEvents type, for example {@code io.gpufleet.fault.observed.v1}. */
    public String ceType() {
        return ceType;
    }

    /** An empty payload of this type. */
    public Message prototype() {
        return prototype;
    }

    /** The CloudEvents dataschema: {@code gpufleet:} and the full name of the message. */
    public String dataSchema() {
        return "gpufleet:" + prototype.getDescriptorForType().getFullName();
    }

    /** Who may write it. */
    public Writer writer() {
        return writer;
    }

    /** Topics on which it may stand. */
    public Set<Topic> topics() {
        return topics;
    }

    /** The type with the CloudEvents name. */
    public static Optional<EventType> byName(String ceType) {
        return Optional.ofNullable(BY_NAME.get(ceType));
    }
}
