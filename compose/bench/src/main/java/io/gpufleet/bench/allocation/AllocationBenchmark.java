package io.gpufleet.bench.allocation;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.cluster.WebhookClient;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Benchmark of the webhook of the allocation-service: admission at several rates and numbers of quotas, fail-over. */
public final class AllocationBenchmark implements Benchmark {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration PHASE = Duration.ofSeconds(10);
    private static final int WARM_UP = 3_000;
    /** Memory limit of the container, as in the manifests, in MiB. */
    public static final int MEBIBYTES = 1_024;

    private static final List<String> STAGES =
            List.of("received_to_read", "read_to_taken", "taken_to_compared", "compared_to_decided");

    private final Path tree;
    private final int pods;
    private final int mebibytes;
    private final Semaphore never = new Semaphore(0);

    /** Keeps its files in the state directory of a checkout. */
    public AllocationBenchmark(Path tree, int pods, int mebibytes) {
        this.tree = tree;
        this.pods = pods;
        this.mebibytes = mebibytes;
    }

    @Override
    public String name() {
        return "allocation";
    }

    @Override
    public String description() {
        return "admission by 1, 100 and 1,000 quotas at 50 and 500 a second, fail-over, hand-over";
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
        AllocationFleet.run(
                tree,
                "bench-allocation",
                fleet -> measure(
                        fleet.replicas(), fleet.launcher(), fleet.cluster().client(), measurements, log));
    }

    private void measure(
            List<PlannedProcess> replicas,
            ProcessLauncher launcher,
            KubernetesClient client,
            Measurements measurements,
            Consumer<String> log)
            throws InterruptedException {
        var cluster = new QuotaClusterObjects(client);
        log.accept("creating " + pods + " pods in " + QuotaClusterObjects.NAMESPACES + " namespaces");
        cluster.create(pods);
        cluster.quotas(1);
        long begun = System.nanoTime();
        try (var first = ServiceUnderLoad.start(launcher, replicas.getFirst(), false, mebibytes)) {
            first.awaitReady();
            await(cluster::led);
            measurements.add("allocation.start-to-leading", (System.nanoTime() - begun) / 1e9, "s");
            var load = new AdmissionLoad();
            for (int quotas : List.of(1, 100, 1_000)) {
                cluster.quotas(quotas);
                await(() -> cluster.led() && WebhookClient.isRegistered(client));
                log.accept(quotas + " quotas: warming up");
                try (WebhookClient webhook = WebhookClient.of(client)) {
                    load.warmUp(webhook, WARM_UP);
                    for (int perSecond : List.of(50, 500)) {
                        log.accept(quotas + " quotas: " + perSecond + " a second");
                        ServiceMetrics before = ServiceMetrics.scrape(first.process());
                        double collections = first.collectionMillis();
                        var answers = load.atRate(webhook, perSecond, (int) (perSecond * PHASE.toSeconds()));
                        String name = "allocation.admission.quotas-" + quotas + ".at-" + perSecond;
                        measurements.addDistribution(name, answers.millis(), "ms");
                        measurements.add(name + ".refused", answers.refused(), "1");
                        measurements.add(name + ".failed", answers.failed(), "1");
                        measurements.add(name + ".collections", first.collectionMillis() - collections, "ms");
                        addStages(name, ServiceMetrics.scrape(first.process()).since(before), measurements);
                        answers.failures().forEach((reason, count) -> log.accept("  " + count + " failed: " + reason));
                    }
                }
            }
            measurements.add("allocation.rss", first.residentMebibytes(), "MiB");
            measurements.add("allocation.rss.peak", first.peakResidentMebibytes(), "MiB");
            log.accept("starting a standby, killing the leader");
            try (var standby = ServiceUnderLoad.start(launcher, replicas.get(1), false, mebibytes)) {
                standby.awaitReady();
                measurements.add("allocation.fail-over", failOver(first, client), "s");
                log.accept("starting another standby, ending the leader in good order");
                try (var last = ServiceUnderLoad.start(launcher, replicas.getFirst(), false, mebibytes)) {
                    last.awaitReady();
                    measurements.add("allocation.hand-over", handOver(standby, last, client), "s");
                }
            }
        }
    }

    private static void addStages(String name, ServiceMetrics during, Measurements measurements) {
        for (String stage : STAGES) {
            measurements.addHistogram(
                    name + "." + stage, during, "gpufleet_quota_review_seconds", Map.of("stage", stage));
        }
    }

    /** Seconds from the end of the leader to the first pod that its successor admits. */
    private double failOver(ServiceUnderLoad leader, KubernetesClient client) throws InterruptedException {
        if (ServiceMetrics.scrape(leader.process()).value("gpufleet_quota_leader") != 1) {
            throw new IllegalStateException("the first replica does not lead the quotas");
        }
        leader.kill();
        long before = System.nanoTime();
        await(() -> admits(client));
        return (System.nanoTime() - before) / 1e9;
    }

    /** Longest time in seconds without an admitted pod while the leader ends in good order and another one leads. */
    private double handOver(ServiceUnderLoad leader, ServiceUnderLoad next, KubernetesClient client)
            throws InterruptedException {
        await(() -> admits(client));
        Thread end = Thread.ofVirtual().start(leader::close);
        long longest = 0;
        long last = System.nanoTime();
        do {
            await(() -> admits(client));
            longest = Math.max(longest, System.nanoTime() - last);
            last = System.nanoTime();
        } while (end.isAlive() || ServiceMetrics.scrape(next.process()).value("gpufleet_quota_leader") != 1);
        return longest / 1e9;
    }

    private static boolean admits(KubernetesClient client) {
        try (WebhookClient webhook = WebhookClient.of(client)) {
            return webhook.review(QuotaClusterObjects.review(Integer.MAX_VALUE)).join();
        } catch (CompletionException | IllegalStateException | KubernetesClientException notYet) {
            return false;
        }
    }

    private void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the quotas have no leader after " + TIMEOUT.toSeconds()
                        + " s; see .gpufleet/bench-allocation/logs");
            }
            var _ = never.tryAcquire(20, TimeUnit.MILLISECONDS);
        }
    }
}
