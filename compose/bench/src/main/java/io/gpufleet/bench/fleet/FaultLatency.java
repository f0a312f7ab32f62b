package io.gpufleet.bench.fleet;

import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** From a fault in a simulated GPU to the taint that a watch sees, hop by hop. */
final class FaultLatency implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(30);
    /** A GPU that fell off the bus: withdrawn at once by every policy. */
    static final int XID = 79;

    private static final int WARM_UP = 20;
    private static final int WITH_RIVAL = 30;
    private static final int ALONE = 30;
    /** By then the services have done what follows from the recovery before. */
    private static final Duration REST = Duration.ofMillis(700);

    private static final List<String> EVENT_HOPS = List.of("appended_to_folded", "folded_to_committed");
    private static final List<String> PATCH_HOPS = List.of("committed_to_sent", "sent_to_acked", "acked_to_watched");
    private static final String PATCHES = "gpufleet_node_patches_total";
    private static final String CONFLICTS = "gpufleet_node_patches_conflicts_total";
    private static final String REQUESTS = "gpufleet_kubernetes_requests_total";

    private final FleetState state;
    private final KubernetesCluster cluster;
    private final TaintWatcher taints;
    private final Semaphore never = new Semaphore(0);
    private int next;

    FaultLatency(FleetState state) {
        this.state = state;
        this.cluster = KubernetesCluster.of(Path.of(state.kubernetes().kubeconfig()));
        this.taints = new TaintWatcher(cluster.client());
    }

    TaintWatcher taints() {
        return taints;
    }

    /** One fault of a fleet that has just started, with its hops. */
    void first(String which, Measurements measurements) throws InterruptedException {
        FleetState.FleetNode node = node();
        int gpu = gpu(node);
        taints.await(node.name(), false, TIMEOUT);
        Instant injected = Instant.now();
        double millis = inject(node, gpu, new InjectedFaults());
        clear(node, gpu);
        measurements.add("fleet.first-fault-to-taint." + which, millis, "ms");
        new FirstFault(node.name(), injected, injected.plusNanos((long) (millis * 1e6)))
                .measure(state.bootstrap(), "fleet.first-fault." + which, measurements);
    }

    /** Latency of warm faults, its hops, and what a rival writer changes. */
    void measure(int count, Measurements measurements, Consumer<String> log) throws InterruptedException {
        log.accept("injecting " + WARM_UP + " faults to warm up and " + count + " to measure");
        faults(WARM_UP, new InjectedFaults());
        ServiceMetrics before = health();
        var injected = new InjectedFaults();
        measurements.addDistribution("fleet.fault-to-taint", faults(count, injected), "ms");
        ServiceMetrics after = health().since(before);
        injected.measure(state.bootstrap(), measurements);
        for (String hop : EVENT_HOPS) {
            addHop(measurements, after, "gpufleet_event_hop_seconds", Map.of("hop", hop, "topic", "health"));
        }
        for (String hop : PATCH_HOPS) {
            addHop(measurements, after, "gpufleet_node_patch_hop_seconds", Map.of("hop", hop));
        }
        alone(measurements, log);
        rival(measurements, log);
        log.accept("measuring the same calls without any code of ours");
        try (var bare = new BareFaultPath(state.bootstrap(), cluster.client())) {
            bare.measure(measurements);
        }
    }

    private static void addHop(
            Measurements measurements, ServiceMetrics metrics, String histogram, Map<String, String> labels) {
        String name = "fleet.hop."
                + labels.getOrDefault("hop", "").replace("_to_", "-").toLowerCase(Locale.ROOT);
        measurements.addHistogram(name, metrics, histogram, labels);
    }

    /** Faults of a fleet that rests, where the others follow the end of the one before at once. */
    private void alone(Measurements measurements, Consumer<String> log) throws InterruptedException {
        log.accept("injecting " + ALONE + " faults with a pause before each");
        var sample = new ArrayList<Double>();
        for (int i = 0; i < ALONE; i++) {
            rest();
            sample.addAll(faults(1, new InjectedFaults()));
        }
        measurements.addDistribution("fleet.alone.fault-to-taint", sample, "ms");
    }

    private void rest() throws InterruptedException {
        var _ = never.tryAcquire(REST.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void rival(Measurements measurements, Consumer<String> log) throws InterruptedException {
        log.accept("injecting " + WITH_RIVAL + " faults beside a rival that writes every node ten times a second");
        double requests = 0;
        double conflicts = 0;
        var byKind = new TreeMap<String, Double>();
        List<String> names =
                state.nodes().stream().map(FleetState.FleetNode::name).toList();
        var sample = new ArrayList<Double>();
        try (var rival = new RivalWriters(cluster.client(), names)) {
            for (int i = 0; i < WITH_RIVAL; i++) {
                // What follows from the recovery before, and from the taint after the watch has seen it.
                rest();
                ServiceMetrics before = health();
                FleetState.FleetNode node = node();
                int gpu = gpu(node);
                sample.add(inject(node, gpu, new InjectedFaults()));
                rest();
                ServiceMetrics taint = health().since(before);
                clear(node, gpu);
                taint.labelled(REQUESTS).forEach((kind, count) -> byKind.merge(kind, count, Double::sum));
                requests += taint.value(PATCHES) + taint.value(CONFLICTS);
                conflicts += taint.value(CONFLICTS);
            }
            measurements.add("fleet.rival.writes", rival.written(), "1");
        }
        measurements.addDistribution("fleet.rival.fault-to-taint", sample, "ms");
        measurements.add("fleet.rival.requests-per-taint", requests / WITH_RIVAL, "1");
        byKind.forEach((kind, count) -> measurements.add(
                "fleet.rival.requests-per-taint."
                        + kind.replaceAll("\\w+=\"|\"", "").replace(',', '-'),
                count / WITH_RIVAL,
                "1"));
        measurements.add("fleet.rival.conflicts", 100 * conflicts / Math.max(1, requests), "%");
    }

    private List<Double> faults(int count, InjectedFaults injected) throws InterruptedException {
        var sample = new ArrayList<Double>();
        for (int i = 0; i < count; i++) {
            FleetState.FleetNode node = node();
            int gpu = gpu(node);
            sample.add(inject(node, gpu, injected));
            clear(node, gpu);
        }
        return sample;
    }

    private double inject(FleetState.FleetNode node, int gpu, InjectedFaults injected) throws InterruptedException {
        taints.await(node.name(), false, TIMEOUT);
        injected.add(node.name());
        long before = System.nanoTime();
        FaultFile.write(node, gpu, XID);
        return TaintWatcher.millis(before, taints.await(node.name(), true, TIMEOUT));
    }

    /** The recovery of this fault is not part of the next sample. */
    private void clear(FleetState.FleetNode node, int gpu) throws InterruptedException {
        FaultFile.remove(node, gpu);
        taints.await(node.name(), false, TIMEOUT);
        next++;
    }

    private FleetState.FleetNode node() {
        return state.nodes().get(next % state.nodes().size());
    }

    private int gpu(FleetState.FleetNode node) {
        return next / state.nodes().size() % node.gpus();
    }

    private ServiceMetrics health() throws InterruptedException {
        return ServiceMetrics.scrape(health(state));
    }

    /** The process of the first replica. */
    static FleetState.FleetProcess health(FleetState state) {
        return state.processes().stream()
                .filter(part -> part.program().equals(Program.HEALTH.name()))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void close() {
        taints.close();
        cluster.close();
    }
}
