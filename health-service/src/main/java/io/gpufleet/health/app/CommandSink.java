package io.gpufleet.health.app;

import io.gpufleet.health.model.HealthSignal.Command;
import java.util.concurrent.CompletionStage;

/** Port: appends commands of operators to the log, on any replica. */
@FunctionalInterface
public interface CommandSink {
    /** An operator issued a command; completes when it is appended. */
    CompletionStage<Void> commandIssued(String node, String device, Command command, String user, String reason);
}
