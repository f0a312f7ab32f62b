package io.gpufleet.health.app.remediation;

import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import java.util.concurrent.CompletionStage;

/** Port: appends how far a remediation is to the log; completes when it is appended. */
@FunctionalInterface
public interface RemediationProgressSink {
    /** It is asked for, or something was seen of it; the message is the same as long as nothing changes. */
    CompletionStage<Void> remediationReported(String node, Remediation remediation, Phase phase, String message);
}
