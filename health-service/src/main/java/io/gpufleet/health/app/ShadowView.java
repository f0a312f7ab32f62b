package io.gpufleet.health.app;

import io.gpufleet.health.model.replay.Difference;
import io.gpufleet.health.model.replay.ReplaySummary;
import java.time.Instant;
import java.util.List;

/** Decisions in which a shadow policy differs from the policy in force, for readers on any thread. */
public interface ShadowView {
    /** Without a shadow policy. */
    ShadowView OFF = new ShadowView() {
        @Override
        public boolean isOn() {
            return false;
        }

        @Override
        public Snapshot snapshot(int limit) {
            return new Snapshot(Instant.MIN, false, List.of(), List.of());
        }

        @Override
        public List<Difference> ofNode(String node, int limit) {
            return List.of();
        }
    };

    /**
     * The comparison at one time.
     *
     * @param since first append time of what was compared
     * @param loaded false while what was told before the start is still read
     * @param summaries what each policy did, the one in force first; empty before the comparison began
     * @param differences newest first
     */
    record Snapshot(Instant since, boolean loaded, List<ReplaySummary> summaries, List<Difference> differences) {
        /** Copies the lists. */
        public Snapshot {
            summaries = List.copyOf(summaries);
            differences = List.copyOf(differences);
        }
    }

    /** True with a shadow policy. */
    boolean isOn();

    /** The comparison, with so many differences at most. */
    Snapshot snapshot(int limit);

    /** The newest differences about a node, newest first. */
    List<Difference> ofNode(String node, int limit);
}
