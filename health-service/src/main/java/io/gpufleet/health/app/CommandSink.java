package io.gpufleet.health.app;

import io.gpufleet.health.model.HealthSignal.Command;
import java.util.concurrent.CompletionStage;

/** Port: appends commands of operators to the log, on any replica. */
@FunctionalInterface
public interface CommandSink {
    /**
     * A command of an operator.
     *
     * @param device UUID, or empty for a command about the node
     * @param user who issued it
     * @param traceparent W3C trace context of the request, or any other text for none
     */
    record IssuedCommand(String node, String device, Command command, String user, String reason, String traceparent) {}

    /** An operator issued a command; completes when it is appended. */
    CompletionStage<Void> commandIssued(IssuedCommand issued);
}
