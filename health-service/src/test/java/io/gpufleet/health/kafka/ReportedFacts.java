package io.gpufleet.health.kafka;

import io.gpufleet.health.app.drain.DrainSink;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.proto.signal.v1.KubernetesFact;

/** Facts as {@link SignalSender} appends them, for writers of a simulation. */
public final class ReportedFacts {
    private ReportedFacts() {}

    /** How far a drain is. */
    public static KubernetesFact.Builder drain(DrainSink.Report report) {
        return SignalSender.drainFact(report);
    }

    /** Somebody has removed what the service had put on a Node. */
    public static KubernetesFact.Builder override(String target, String by, long revision) {
        return SignalSender.overrideFact(target, by, revision);
    }

    /** How far a remediation is. */
    public static KubernetesFact.Builder remediation(
            Remediation remediation, RemediationProgress.Phase phase, String message) {
        return KubernetesFact.newBuilder().setRemediation(RemediationMapper.toWire(remediation, phase, message));
    }
}
