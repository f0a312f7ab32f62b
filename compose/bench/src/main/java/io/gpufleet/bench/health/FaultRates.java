package io.gpufleet.bench.health;

import io.gpufleet.bench.fleet.TaintWatcher;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.cli.fleet.FleetState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** From an event of a daemon to the taint that a watch sees, at a rate of failing nodes. */
final class FaultRates {
    /** For what never comes: a restart with 100,000 nodes takes more than a minute. */
    static final Duration TIMEOUT = Duration.ofMinutes(10);

    /** Stages of an event of topic health, then of a patch. */
    private static final List<String> EVENT_STAGES = List.of("appended_to_folded", "folded_to_committed");

    private static final List<String> PATCH_STAGES = List.of("committed_to_sent", "sent_to_acked", "acked_to_watched");

    private final FleetEvents events;
    private final TaintWatcher taints;
    private final Semaphore never = new Semaphore(0);

    FaultRates(FleetEvents events, TaintWatcher taints) {
        this.events = events;
        this.taints = taints;
    }

    /** Nodes fail at even intervals; adds milliseconds to the broker's answer and to the taint, once all are tainted. */
    void atRate(String name, double perSecond, int count, Measurements measurements) throws InterruptedException {
        long interval = (long) (TimeUnit.SECONDS.toNanos(1) / perSecond);
        long begin = System.nanoTime();
        long[] sent = new long[count];
        List<Double> appended = new ArrayList<>();
        for (int node = 0; node < count; node++) {
            long wait = begin + node * interval - System.nanoTime();
            var _ = never.tryAcquire(Math.max(0, wait), TimeUnit.NANOSECONDS);
            sent[node] = System.nanoTime();
            events.fatal(node);
            events.flush();
            appended.add(TaintWatcher.millis(sent[node], System.nanoTime()));
        }
        measurements.addDistribution(name, tainted(sent), "ms");
        measurements.addDistribution(name + ".sent_to_appended", appended, "ms");
    }

    /** All nodes fail at once; returns milliseconds of each, once all are tainted. */
    List<Double> atOnce(int count) throws InterruptedException {
        long[] sent = new long[count];
        for (int node = 0; node < count; node++) {
            sent[node] = System.nanoTime();
            events.fatal(node);
        }
        events.flush();
        return tainted(sent);
    }

    private List<Double> tainted(long[] sent) throws InterruptedException {
        List<Double> millis = new ArrayList<>();
        for (int node = 0; node < sent.length; node++) {
            millis.add(TaintWatcher.millis(sent[node], taints.await(FleetEvents.node(node), true, TIMEOUT)));
        }
        return millis;
    }

    /** So many nodes, those that failed, recover at once; returns when none has a taint any more. */
    void recover(int count) throws InterruptedException {
        for (int node = 0; node < count; node++) {
            events.repaired(node);
        }
        events.flush();
        for (int node = 0; node < count; node++) {
            taints.await(FleetEvents.node(node), false, TIMEOUT);
        }
    }

    /** Adds the median and P99 of each stage between two scrapes. */
    static void addStages(
            String name, FleetState.FleetProcess service, ServiceMetrics before, Measurements measurements)
            throws InterruptedException {
        ServiceMetrics during = ServiceMetrics.scrape(service).since(before);
        for (String stage : EVENT_STAGES) {
            Map<String, String> labels = Map.of("hop", stage, "topic", "health");
            measurements.addHistogram(name + "." + stage, during, "gpufleet_event_hop_seconds", labels);
        }
        for (String stage : PATCH_STAGES) {
            measurements.addHistogram(
                    name + "." + stage, during, "gpufleet_node_patch_hop_seconds", Map.of("hop", stage));
        }
    }
}
