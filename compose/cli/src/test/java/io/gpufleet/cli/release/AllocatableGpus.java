package io.gpufleet.cli.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.testbed.testkit.RealCluster;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allocatable GPUs, asked for until it is closed: by the Node, which the kubelet of the test's cluster writes every two seconds,
 * so that a shorter dip may look like one of two seconds or like none, and by the kubelet, which is what decides about a pod.
 */
final class AllocatableGpus implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AllocatableGpus.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final int wanted;
    private final CountDownLatch end = new CountDownLatch(1);
    private final KubeletGpus kubelet = new KubeletGpus();
    private final Dips ofNode;
    private final Dips ofKubelet;

    /** Measures how long there are fewer than {@code wanted}. */
    AllocatableGpus(RealCluster cluster, int wanted) {
        this.wanted = wanted;
        this.ofNode = new Dips("node", cluster::allocatableGpus, 100);
        this.ofKubelet = new Dips("kubelet", kubelet::count, 20);
    }

    /** They are there again; how long they were not is logged, and no figure of a loaded machine is judged. */
    void assertBack() throws InterruptedException {
        await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(ofNode.below).isFalse();
            assertThat(ofKubelet.below).isFalse();
        });
        close();
        ofNode.log();
        ofKubelet.log();
    }

    @Override
    public void close() throws InterruptedException {
        end.countDown();
        ofNode.asker.join();
        ofKubelet.asker.join();
        kubelet.close();
    }

    /** Times of fewer GPUs than wanted, as one source shows them. */
    private final class Dips {
        private final String source;
        private final IntSupplier gpus;
        private final Thread asker;
        private int count;
        private Duration longest = Duration.ZERO;
        private volatile boolean below;

        Dips(String source, IntSupplier gpus, long periodMillis) {
            this.source = source;
            this.gpus = gpus;
            this.asker = Thread.ofVirtual().name("gpus-of-" + source).start(() -> ask(periodMillis));
        }

        private void ask(long periodMillis) {
            long since = 0;
            try {
                while (!end.await(periodMillis, TimeUnit.MILLISECONDS)) {
                    boolean fewer = fewer();
                    long now = System.nanoTime();
                    if (fewer && !below) {
                        since = now;
                        count++;
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

        /** As before where the source does not answer. */
        private boolean fewer() {
            try {
                return gpus.getAsInt() < wanted;
            } catch (KubernetesClientException | CompletionException unanswered) {
                return below;
            }
        }

        void log() {
            LOG.atInfo()
                    .addKeyValue("source", source)
                    .addKeyValue("below", wanted)
                    .addKeyValue("dips", count)
                    .addKeyValue("longestMillis", longest.toMillis())
                    .log("allocatable GPUs while daemons were replaced");
        }
    }
}
