package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.testbed.testkit.RealCluster;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allocatable GPUs of the node, asked for ten times a second until it is closed. The kubelet of the test's cluster writes them
 * every two seconds, so that a shorter dip may look like one of two seconds, or like none.
 */
final class AllocatableGpus implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AllocatableGpus.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final RealCluster cluster;
    private final int wanted;
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread asker;
    private int dips;
    private Duration longest = Duration.ZERO;
    private volatile boolean below;

    /** Measures how long there are fewer than {@code wanted}. */
    AllocatableGpus(RealCluster cluster, int wanted) {
        this.cluster = cluster;
        this.wanted = wanted;
        this.asker = Thread.ofVirtual().name("allocatable-gpus").start(this::ask);
    }

    private void ask() {
        long since = 0;
        try {
            while (!end.await(100, TimeUnit.MILLISECONDS)) {
                boolean fewer = fewer();
                long now = System.nanoTime();
                if (fewer && !below) {
                    since = now;
                    dips++;
                }
                if (fewer || below) {
                    Duration dip = Duration.ofNanos(now - since);
                    longest = dip.compareTo(longest) > 0 ? dip : longest;
                }
                below = fewer;
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** As before where the API server does not answer. */
    private boolean fewer() {
        try {
            return cluster.allocatableGpus() < wanted;
        } catch (KubernetesClientException unanswered) {
            return below;
        }
    }

    /** They are there again; how long they were not is logged, and no figure of a loaded machine is judged. */
    void assertBack() throws InterruptedException {
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(below).isFalse());
        close();
        LOG.atInfo()
                .addKeyValue("below", wanted)
                .addKeyValue("dips", dips)
                .addKeyValue("longestMillis", longest.toMillis())
                .log("allocatable GPUs while daemons were replaced");
    }

    @Override
    public void close() throws InterruptedException {
        end.countDown();
        asker.join();
    }
}
