package io.gpufleet.health.app.drain;

import io.gpufleet.health.model.drain.DrainProgress;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Port: appends how far a drain is to the log; completes when it is appended. */
@FunctionalInterface
public interface DrainSink {
    /** A drain begins, goes on, waits or ends. */
    CompletionStage<Void> drainReported(String node, Report report);

    /**
     * How far the drain of a Node object is.
     *
     * @param message one line for people, the same as long as nothing changes
     */
    record Report(String nodeUid, DrainProgress.Phase phase, List<String> jobs, String message) {
        /** Copies the list. */
        public Report {
            jobs = List.copyOf(jobs);
        }

        /** True when the committed progress says this already. */
        boolean isSaidBy(DrainProgress progress) {
            return progress.saysAs(new DrainProgress(phase, progress.since(), progress.at(), jobs, message));
        }
    }
}
