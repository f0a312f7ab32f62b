package io.gpufleet.health.kafka;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/**
 * Opens {@link CatchUpStatus} for what was read at a tick before: what is read at this one is committed only after it, and
 * Nodes are patched by committed states.
 */
final class BacklogProgress {
    private final CatchUpStatus backlog;
    private final Set<Topic> inputs;
    /** Partitions that were read to their ends at a tick of this term. */
    private final Set<Integer> readBefore = new HashSet<>();

    private boolean allRead;

    BacklogProgress(CatchUpStatus backlog, Set<Topic> inputs) {
        this.backlog = backlog;
        this.inputs = inputs;
    }

    /** A term begins: nothing is read. */
    void begin() {
        allRead = false;
        readBefore.clear();
        backlog.begin();
    }

    /** A tick of the term; the batches of those before it are committed. */
    void tick(Progress progress, Instant now) {
        if (!backlog.isWaiting()) {
            return;
        }
        if (allRead) {
            backlog.allRead();
            return;
        }
        allRead = progress.caughtUp(now);
        var readNow = new HashSet<Integer>();
        backlog.read(node -> {
            int partition = HealthProjection.partitionOf(node);
            if (inputs.stream()
                    .allMatch(topic -> progress.caughtUpFor(topic, node, now).isPositive())) {
                readNow.add(partition);
            }
            return readBefore.contains(partition);
        });
        readBefore.addAll(readNow);
    }
}
