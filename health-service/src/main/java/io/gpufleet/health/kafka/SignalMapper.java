package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.health.v1.DeviceOffer;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeDeparted;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.runtime.projection.Inbound;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Maps messages to signals; empty for messages that are no signals. */
final class SignalMapper {
    /** More containers than fit on a node; every decision about the fault lists them. */
    private static final int MAX_HOLDERS = 256;

    private SignalMapper() {}

    static Optional<HealthSignal> toModel(Inbound.Event in, Instant now) {
        var metadata = new EventMetadata(in.eventId(), in.appendedAt(), in.age(now));
        return switch (in.payload()) {
            case FaultObserved observed ->
                Optional.of(observed(metadata, incarnation(in, observed.getBootId()), observed));
            case FaultCleared cleared ->
                Optional.of(new HealthSignal.FaultCleared(
                        metadata,
                        incarnation(in, cleared.getBootId()),
                        device(cleared.getFault()),
                        EnumMapping.code(cleared.getFault()),
                        TextLimits.text(cleared.getProof())));
            case OpenFaults open -> Optional.of(open(metadata, incarnation(in, open.getBootId()), open));
            case DeviceOfferChanged offer ->
                Optional.of(new HealthSignal.LocalHealthChanged(
                        metadata,
                        incarnation(in, offer.getBootId()),
                        TextLimits.name(offer.getOffer().getDeviceUuid()),
                        offer.getOffer().getLocallyHealthy()));
            case NodeAnnounced announced ->
                Optional.of(new HealthSignal.DevicesAnnounced(
                        metadata,
                        incarnation(in, announced.getBootId()),
                        announced.getGpusList().stream()
                                .map(SignalMapper::announcedDevice)
                                .toList(),
                        knowledge(announced)));
            case NodeDeparted departed ->
                Optional.of(new HealthSignal.DaemonDeparted(metadata, incarnation(in, departed.getBootId())));
            case DevicesHeld held ->
                Optional.of(new HealthSignal.DevicesHeld(
                        metadata, incarnation(in, held.getBootId()), DrainMapper.holdings(held)));
            case OperatorCommand command -> command(metadata, command);
            case KubernetesFact fact -> fact(metadata, fact);
            case Message _ -> Optional.empty();
        };
    }

    /** An event without a boot would begin a boot of no name, which ends faults; thrown, it goes to the dead letters. */
    private static DaemonIncarnation incarnation(Inbound.Event in, String bootId) {
        if (bootId.isEmpty()) {
            throw new IllegalArgumentException("boot_id is empty: "
                    + in.envelope().type().ceType() + " of a daemon takes the boot id of its machine");
        }
        return new DaemonIncarnation(TextLimits.name(bootId), in.envelope().id().epoch(), in.newMachine());
    }

    private static HealthSignal observed(
            EventMetadata metadata, DaemonIncarnation incarnation, FaultObserved observed) {
        Fault fault = observed.getFault();
        checkXid(fault);
        return new HealthSignal.FaultObserved(
                metadata,
                incarnation,
                reported(fault),
                TextLimits.text(fault.getMessage()),
                observed.getHoldersList().stream()
                        .limit(MAX_HOLDERS)
                        .map(holder -> new HealthSignal.Holder(
                                TextLimits.text(holder.getNamespace()),
                                TextLimits.text(holder.getPod()),
                                TextLimits.text(holder.getPodUid()),
                                TextLimits.text(holder.getContainer())))
                        .toList());
    }

    /** Of the list of open faults, none of which is worth the others, such a one is read as number 0. */
    private static void checkXid(Fault fault) {
        if (fault.getKind() == FaultKind.FAULT_KIND_XID && fault.getXid() <= 0) {
            throw new IllegalArgumentException("xid " + Integer.toUnsignedString(fault.getXid()) + " of device '"
                    + device(fault) + "' is no XID: 1 to " + Integer.MAX_VALUE + ", as the driver logs it");
        }
    }

    private static HealthSignal open(EventMetadata metadata, DaemonIncarnation incarnation, OpenFaults open) {
        List<HealthSignal.OpenFault> faults = open.getFaultsList().stream()
                .map(listed ->
                        new HealthSignal.OpenFault(reported(listed.getFault()), Math.max(1, listed.getObservations())))
                .toList();
        return new HealthSignal.FaultsOpen(
                metadata,
                incarnation,
                faults,
                open.getOffersList().stream()
                        .filter(offer -> !offer.getDeviceUuid().isEmpty())
                        .collect(Collectors.toMap(
                                offer -> TextLimits.name(offer.getDeviceUuid()),
                                DeviceOffer::getLocallyHealthy,
                                (one, other) -> one && other)),
                open.getKnownSinceEpoch());
    }

    private static HealthSignal.ReportedFault reported(Fault fault) {
        return new HealthSignal.ReportedFault(
                device(fault), TextLimits.name(fault.getModel()), EnumMapping.code(fault), EnumMapping.report(fault));
    }

    /** Older daemons do not tell the state of the driver: it responds. */
    private static HealthSignal.DaemonKnowledge knowledge(NodeAnnounced announced) {
        boolean responds = switch (announced.getDriverState()) {
            case DRIVER_STATE_READY, DRIVER_STATE_UNSPECIFIED, UNRECOGNIZED -> true;
            case DRIVER_STATE_LIBRARY_ABSENT,
                    DRIVER_STATE_NOT_LOADED,
                    DRIVER_STATE_VERSION_MISMATCH,
                    DRIVER_STATE_HELD,
                    DRIVER_STATE_FAILED -> false;
        };
        return new HealthSignal.DaemonKnowledge(
                announced.hasGpusKnownSince()
                        ? TimestampMapping.fromWire(announced.getGpusKnownSince())
                        : Instant.EPOCH,
                responds);
    }

    private static HealthSignal.AnnouncedDevice announcedDevice(Gpu gpu) {
        return new HealthSignal.AnnouncedDevice(
                TextLimits.name(gpu.getUuid()),
                new Device.Identity(
                        TextLimits.name(gpu.getModel()),
                        TextLimits.name(gpu.getSerial()),
                        TextLimits.name(gpu.getPciBusId())),
                gpu.getLocalHealth() == LocalHealth.LOCAL_HEALTH_LOST);
    }

    private static Optional<HealthSignal> command(EventMetadata metadata, OperatorCommand command) {
        Optional<Command> known = switch (command.getCommand()) {
            case COMMAND_QUARANTINE -> Optional.of(Command.QUARANTINE);
            case COMMAND_RELEASE -> Optional.of(Command.RELEASE);
            case COMMAND_RETIRE -> Optional.of(Command.RETIRE);
            case COMMAND_CLEAR -> Optional.of(Command.CLEAR);
            case COMMAND_FORGET -> Optional.of(Command.FORGET);
            case COMMAND_RESET_BRAKE -> Optional.of(Command.RESET_BRAKE);
            case COMMAND_BEGIN_MAINTENANCE -> Optional.of(Command.BEGIN_MAINTENANCE);
            case COMMAND_END_MAINTENANCE -> Optional.of(Command.END_MAINTENANCE);
            case COMMAND_FREEZE -> Optional.of(Command.FREEZE);
            case COMMAND_UNFREEZE -> Optional.of(Command.UNFREEZE);
            case COMMAND_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
        };
        return known.map(value -> new HealthSignal.CommandIssued(
                metadata,
                value,
                TextLimits.name(command.getDeviceUuid()),
                TextLimits.name(command.getUser()),
                TextLimits.text(command.getReason())));
    }

    private static Optional<HealthSignal> fact(EventMetadata metadata, KubernetesFact fact) {
        return switch (fact.getFactCase()) {
            case NODE ->
                fact.getNode().getUid().isEmpty()
                        ? Optional.empty()
                        : Optional.of(new HealthSignal.NodeObjectObserved(
                                metadata, fact.getNode().getUid(), placement(fact.getNode())));
            case NODE_DELETED ->
                Optional.of(new HealthSignal.NodeObjectDeleted(
                        metadata, fact.getNodeDeleted().getUid()));
            case OVERRIDE ->
                Optional.of(new HealthSignal.OverrideObserved(
                        metadata,
                        TextLimits.name(fact.getOverride().getTarget()),
                        TextLimits.name(fact.getOverride().getBy()),
                        fact.getOverride().getRevision()));
            case DRAIN -> Optional.of(DrainMapper.reported(metadata, fact.getDrain()));
            case REMEDIATION -> Optional.of(RemediationMapper.reported(metadata, fact.getRemediation()));
            case PATCH, POD, FACT_NOT_SET -> Optional.empty();
        };
    }

    /** The facts of other services do not tell it. */
    private static NodeReference.Placement placement(NodeObject node) {
        return node.hasPlacement()
                ? new NodeReference.Placement(
                        node.getPlacement().getLabelsMap(),
                        node.getPlacement().getUsable(),
                        true,
                        !node.getPlacement().getNotReady())
                : NodeReference.Placement.UNKNOWN;
    }

    private static String device(Fault fault) {
        return TextLimits.name(fault.getDeviceUuid());
    }
}
