package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.PodReporter;
import io.gpufleet.allocation.app.quota.ClusterEventRouter;
import io.gpufleet.allocation.app.quota.DeciderHealth;
import io.gpufleet.allocation.app.quota.QuotaDecider;
import io.gpufleet.allocation.app.quota.QuotaExecutors;
import io.gpufleet.allocation.app.quota.QuotaLeader;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaEvent;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.quota.TestQuotas;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import java.time.Clock;
import java.util.List;
import java.util.Set;

/**
 * What the service does with the pods of a cluster, in a process with a heap of its own: informer, counters and reporter, on a
 * replica that is active while the log takes nothing. Each line of standard input begins one more list of all pods beside
 * the informer; the answer is what a quota then counts.
 */
final class PodListProgram {
    /** A quota of many GPUs of one namespace. */
    static final GpuQuota QUOTA = new GpuQuota(
            "q",
            "1",
            Set.of("ml"),
            LabelSelector.NOTHING,
            List.of(new QuotaLimit("A100", 1_000_000)),
            GpuQuota.Mode.ENFORCE,
            GpuQuota.AmbiguousModel.DENY,
            QuotaStatus.NONE);

    private PodListProgram() {}

    /** Takes the address of the API server. */
    public static void main(String[] arguments) throws Exception {
        Config config =
                new ConfigBuilder(Config.empty()).withMasterUrl(arguments[0]).build();
        GpuResources resources = GpuResources.NONE.with(TestQuotas.FRACTIONS.keySet());
        try (KubernetesClient client =
                new KubernetesClientBuilder().withConfig(config).build()) {
            var quotas = new KubernetesQuotaClient(client, client, new ActiveLease(), Clock.systemUTC());
            var decider = new QuotaDecider(
                    tasks -> new QuotaLeader(
                            quotas,
                            "r0",
                            new ActiveLease(),
                            new QuotaExecutors(tasks, _ -> {}, _ -> {}),
                            Clock.systemUTC(),
                            System::nanoTime),
                    new DeciderHealth(System::nanoTime),
                    System::nanoTime);
            TestQuotas.cluster().forEach(decider::observe);
            decider.observe(new QuotaEvent.QuotaObserved(QUOTA));
            PodReporter reporter = PodReporter.start((_, _) -> false, Set.of("team"), (_, _) -> false);
            reporter.activated();
            var watch = ClusterWatch.open(
                    client, new ClusterEventRouter(decider, reporter, () -> resources), () -> resources);
            while (System.in.read() == '\n') {
                quotas.gpuPods(page -> page.forEach(decider::podObserved));
                System.out.println(decider.views()
                        .toCompletableFuture()
                        .get()
                        .getFirst()
                        .limits()
                        .getFirst()
                        .used()
                        .pods());
            }
            watch.close();
            reporter.close();
            decider.close();
        }
    }
}
