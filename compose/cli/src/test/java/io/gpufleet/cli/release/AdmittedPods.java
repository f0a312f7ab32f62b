package io.gpufleet.cli.release;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Asks the API server ten times a second whether it would admit a GPU pod, until it is closed. Each question goes through
 * the webhook; no pod is made.
 */
final class AdmittedPods implements AutoCloseable {
    private final List<String> refused = new CopyOnWriteArrayList<>();
    private final AtomicInteger admitted = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread asker;

    AdmittedPods(Config config, String namespace) {
        // A client that tries again would hide what was refused.
        Config once = new ConfigBuilder(config).withRequestRetryBackoffLimit(0).build();
        asker = Thread.ofVirtual().name("admitted-pods").start(() -> ask(once, namespace));
    }

    private void ask(Config config, String namespace) {
        try (KubernetesClient client =
                new KubernetesClientBuilder().withConfig(config).build()) {
            while (!end.await(100, TimeUnit.MILLISECONDS)) {
                try {
                    client.resource(RealCluster.pod(namespace, "asked", 1, "true"))
                            .dryRun()
                            .create();
                    admitted.incrementAndGet();
                } catch (KubernetesClientException failed) {
                    refused.add(failed.getMessage());
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Answers of the API server to questions that it did not answer by yes. */
    List<String> refused() {
        return List.copyOf(refused);
    }

    /** Number of pods that would have been admitted. */
    int admitted() {
        return admitted.get();
    }

    @Override
    public void close() throws InterruptedException {
        end.countDown();
        asker.join();
    }
}
