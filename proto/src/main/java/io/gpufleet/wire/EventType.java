package io.gpufleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.proto.allocation.v1.DeviceInterval;
import io.gpufleet.proto.allocation.v1.DevicesAllocated;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageDay;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.proto.bus.v1.CommittedOffsets;
import io.gpufleet.proto.bus.v1.DeadLetterReplayed;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.proto.bus.v1.WriterIncarnation;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.inventory.v1.NodeSettings;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.proto.telemetry.v1.TelemetrySampled;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Catalogue of event types: the payload of each, the topics on which it is allowed, and its writer. */
public enum EventType {
    /** Devices and resources of a node. */
    NODE_ANNOUNCED("node.announced", NodeAnnounced.getDefaultInstance(), Writer.DAEMON, Topic.INVENTORY),
    /** A daemon stopped gracefully. */
    NODE_DEPARTED("node.departed", NodeDeparted.getDefaultInstance(), Writer.DAEMON, Topic.INVENTORY),
    /** A fault was observed. */
    FAULT_OBSERVED("fault.observed", FaultObserved.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** A fault has ended. */
    FAULT_CLEARED("fault.cleared", FaultCleared.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** All open faults of a node. */
    FAULTS_OPEN("faults.open", OpenFaults.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** The health of a device as reported to the kubelet changed. */
    DEVICE_OFFERED("device.offered", DeviceOfferChanged.getDefaultInstance(), Writer.DAEMON, Topic.HEALTH),
    /** An Allocate call was answered. */
    DEVICES_ALLOCATED("devices.allocated", DevicesAllocated.getDefaultInstance(), Writer.DAEMON, Topic.ALLOCATION),
    /** Holders of devices on a node. */
    DEVICES_HELD("devices.held", DevicesHeld.getDefaultInstance(), Writer.DAEMON, Topic.ALLOCATION),
    /** Samples of every device. */
    TELEMETRY_SAMPLED("telemetry.sampled", TelemetrySampled.getDefaultInstance(), Writer.DAEMON, Topic.TELEMETRY),
    /** An outbox that was full or broken dropped events. */
    EVENTS_LOST(
            "events.lost",
            EventsLost.getDefaultInstance(),
            Writer.DAEMON,
            Topic.INVENTORY,
            Topic.HEALTH,
            Topic.ALLOCATION,
            Topic.TELEMETRY),
    /** An operator issued a command. */
    COMMAND_ISSUED("command.issued", OperatorCommand.getDefaultInstance(), Writer.ANY_SERVICE, Topic.SIGNALS),
    /** An observation of Kubernetes. */
    KUBERNETES_OBSERVED("kubernetes.observed", KubernetesFact.getDefaultInstance(), Writer.ANY_SERVICE, Topic.SIGNALS),
    /** A verdict was reached. */
    VERDICT_REACHED("verdict.reached", NodeVerdict.getDefaultInstance(), Writer.HEALTH_SERVICE, Topic.VERDICTS),
    /** A decision was taken or held back. */
    DECISION_TAKEN("decision.taken", DecisionTaken.getDefaultInstance(), Writer.HEALTH_SERVICE, Topic.DECISIONS),
    /** The health state of a node changed. */
    HEALTH_CHANGED("health.changed", NodeHealthState.getDefaultInstance(), Writer.HEALTH_SERVICE, Topic.HEALTH_STATE),
    /** The joined view of a node changed. */
    NODE_VIEWED(
            "node.viewed", NodeView.getDefaultInstance(), Writer.INVENTORY_SERVICE, Topic.NODES, Topic.NODES_HISTORY),
    /** Settings of a node were chosen by Node labels. */
    SETTINGS_CHOSEN("settings.chosen", NodeSettings.getDefaultInstance(), Writer.INVENTORY_SERVICE, Topic.SETTINGS),
    /** The ledger state of a node changed. */
    HOLDINGS_CHANGED("holdings.changed", NodeHoldings.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.HOLDINGS),
    /** A usage interval ended. */
    USAGE_CLOSED("usage.closed", UsageInterval.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE),
    /** An ended usage interval is corrected by a difference. */
    USAGE_ADJUSTED("usage.adjusted", UsageInterval.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE),
    /** Time of a GPU is added to a quality in which nobody holds it. */
    DEVICE_ACCOUNTED("device.accounted", DeviceInterval.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE),
    /** A daily sum changed. */
    USAGE_SUMMED("usage.summed", UsageDay.getDefaultInstance(), Writer.ALLOCATION_SERVICE, Topic.USAGE_DAILY),
    /** Offsets up to which a service has applied its inputs. */
    OFFSETS_COMMITTED(
            "offsets.committed",
            CommittedOffsets.getDefaultInstance(),
            Writer.ANY_SERVICE,
            Topic.HEALTH_STATE,
            Topic.NODES,
            Topic.HOLDINGS),
    /** The active replica of a service changed. */
    ACTIVE_CHANGED(
            "active.changed",
            ActiveReplica.getDefaultInstance(),
            Writer.ANY_SERVICE,
            Topic.HEALTH_STATE,
            Topic.NODES,
            Topic.HOLDINGS),
    /** A service instance began to send events outside of transactions. */
    WRITER_STARTED(
            "writer.started",
            WriterIncarnation.getDefaultInstance(),
            Writer.ANY_SERVICE,
            Topic.HEALTH_STATE,
            Topic.NODES,
            Topic.HOLDINGS),
    /** A dead letter was applied after a replay. */
    DEADLETTER_REPLAYED(
            "deadletter.replayed",
            DeadLetterReplayed.getDefaultInstance(),
            Writer.ANY_SERVICE,
            Topic.HEALTH_STATE,
            Topic.NODES,
            Topic.HOLDINGS);

    /** Types whose value is binary protobuf: the states of a changelog that only its own service reads. */
    private static final Set<EventType> BINARY = EnumSet.of(HEALTH_CHANGED, HOLDINGS_CHANGED);

    /** Programs that may write an event. */
    public enum Writer {
        /** The node-daemon of the node whose name is the key. */
        DAEMON(""),
        /** Any of the three services. */
        ANY_SERVICE(""),
        /** The health-service. */
        HEALTH_SERVICE("health-service"),
        /** The inventory-service. */
        INVENTORY_SERVICE("inventory-service"),
        /** The allocation-service. */
        ALLOCATION_SERVICE("allocation-service");

        private final String service;

        Writer(String service) {
            this.service = service;
        }

        /** Returns the name of the one service that may write; empty where it is not one service. */
        public String service() {
            return service;
        }
    }

    private static final Map<String, EventType> BY_NAME =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(EventType::ceType, Function.identity()));

    private final String ceType;
    private final Message prototype;
    private final Writer writer;
    private final Set<Topic> topics;
    private final byte[] nameHeader;
    private final byte[] schemaHeader;

    EventType(String name, Message prototype, Writer writer, Topic... topics) {
        this.ceType = "io.gpufleet." + name + ".v1";
        this.prototype = prototype;
        this.writer = writer;
        this.topics = Set.of(topics);
        this.nameHeader = ceType.getBytes(UTF_8);
        this.schemaHeader = dataSchema().getBytes(UTF_8);
    }

    /** Returns the CloudEvents type, for example {@code io.gpufleet.fault.observed.v1}. */
    public String ceType() {
        return ceType;
    }

    /** Returns the default instance of the payload. */
    public Message prototype() {
        return prototype;
    }

    /** Returns the CloudEvents dataschema: {@code gpufleet:} and the full name of the message. */
    public String dataSchema() {
        return "gpufleet:" + prototype.getDescriptorForType().getFullName();
    }

    /** The header {@code ce_type}, in UTF-8, which nobody changes. */
    byte[] nameHeader() {
        return nameHeader;
    }

    /** The header {@code ce_dataschema}, in UTF-8, which nobody changes. */
    byte[] schemaHeader() {
        return schemaHeader;
    }

    /** Returns how its value is encoded when it is written. */
    public PayloadEncoding encoding() {
        return BINARY.contains(this) ? PayloadEncoding.PROTOBUF : PayloadEncoding.JSON;
    }

    /** Returns the program that may write it. */
    public Writer writer() {
        return writer;
    }

    /** Returns the topics on which it is allowed. */
    public Set<Topic> topics() {
        return topics;
    }

    /** Finds a type by its CloudEvents name. */
    public static Optional<EventType> byName(String ceType) {
        return Optional.ofNullable(BY_NAME.get(ceType));
    }
}
