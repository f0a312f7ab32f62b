package io.gpufleet.health.kafka;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.Remediation.Target;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.RemediationState;
import io.gpufleet.proto.signal.v1.RemediationPhase;
import io.gpufleet.proto.signal.v1.RemediationReported;
import java.util.Arrays;

/** Maps remediations: facts to signals and back, and their part of the changelog record. */
final class RemediationMapper {
    private RemediationMapper() {}

    static HealthSignal reported(EventMetadata metadata, RemediationReported report) {
        return new HealthSignal.RemediationReported(
                metadata,
                toModel(report.getRemediation()),
                phase(report.getPhase()),
                TextLimits.text(report.getMessage()));
    }

    static RemediationReported toWire(Remediation remediation, RemediationProgress.Phase phase, String message) {
        return RemediationReported.newBuilder()
                .setRemediation(toWire(remediation))
                .setPhase(toWire(phase))
                .setMessage(TextLimits.text(message))
                .build();
    }

    static void write(NodeState state, NodeHealthState.Builder wire) {
        RemediationProgress progress = state.acting().remediation();
        if (!progress.equals(RemediationProgress.NONE)) {
            wire.setRemediation(RemediationState.newBuilder()
                    .setRemediation(toWire(progress.remediation()))
                    .setPhase(toWire(progress.phase()))
                    .setAt(TimestampMapping.toWire(progress.at()))
                    .setMessage(progress.message()));
        }
    }

    static RemediationProgress progress(NodeHealthState wire) {
        RemediationState state = wire.getRemediation();
        return wire.hasRemediation()
                ? new RemediationProgress(
                        toModel(state.getRemediation()),
                        phase(EnumMapping.recognized(state.getPhase())),
                        TimestampMapping.fromWire(state.getAt()),
                        state.getMessage())
                : RemediationProgress.NONE;
    }

    private static io.gpufleet.proto.signal.v1.Remediation toWire(Remediation remediation) {
        var wire = io.gpufleet.proto.signal.v1.Remediation.newBuilder()
                .setNodeUid(remediation.target().nodeUid())
                .setBootId(remediation.target().bootId())
                .setAction(remediation.action().slug())
                .setEpisode(remediation.episode())
                .setAttempt(remediation.attempt())
                .setDeadline(TimestampMapping.toWire(remediation.deadline()))
                .addAllEvidence(remediation.evidence());
        remediation
                .target()
                .devices()
                .forEach(device -> wire.addDevices(io.gpufleet.proto.signal.v1.RemediatedDevice.newBuilder()
                        .setUuid(device.uuid())
                        .setSerial(device.serial())));
        return wire.build();
    }

    private static Remediation toModel(io.gpufleet.proto.signal.v1.Remediation wire) {
        return new Remediation(
                new Target(
                        wire.getNodeUid(),
                        wire.getBootId(),
                        wire.getDevicesList().stream()
                                .map(device -> new RemediatedDevice(device.getUuid(), device.getSerial()))
                                .toList()),
                action(wire.getAction()),
                wire.getEpisode(),
                wire.getAttempt(),
                TimestampMapping.fromWire(wire.getDeadline()),
                wire.getEvidenceList());
    }

    /** Thrown for an action of a later release: it goes to the dead letters. */
    private static RecommendedAction action(String slug) {
        return Arrays.stream(RecommendedAction.values())
                .filter(action -> action.slug().equals(slug))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("action of a remediation is unknown: " + slug));
    }

    private static RemediationPhase toWire(RemediationProgress.Phase phase) {
        return phase == RemediationProgress.Phase.NONE
                ? RemediationPhase.REMEDIATION_PHASE_UNSPECIFIED
                : RemediationPhase.valueOf("REMEDIATION_PHASE_" + phase.name());
    }

    private static RemediationProgress.Phase phase(RemediationPhase wire) {
        return switch (wire) {
            case REMEDIATION_PHASE_UNSPECIFIED, UNRECOGNIZED -> RemediationProgress.Phase.NONE;
            case REMEDIATION_PHASE_REQUESTED -> RemediationProgress.Phase.REQUESTED;
            case REMEDIATION_PHASE_CREATED -> RemediationProgress.Phase.CREATED;
            case REMEDIATION_PHASE_SUCCEEDED -> RemediationProgress.Phase.SUCCEEDED;
            case REMEDIATION_PHASE_FAILED -> RemediationProgress.Phase.FAILED;
            case REMEDIATION_PHASE_TIMED_OUT -> RemediationProgress.Phase.TIMED_OUT;
            case REMEDIATION_PHASE_WITHDRAWN -> RemediationProgress.Phase.WITHDRAWN;
        };
    }
}
