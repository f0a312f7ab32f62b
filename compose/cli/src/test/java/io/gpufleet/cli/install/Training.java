package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.RealCluster;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** A pod that holds four of eight GPUs while other things happen. */
public final class Training {
    private static final String NAMESPACE = "default";
    public static final String NAME = "gpufleet-it-training";

    private Training() {}

    /** Starts it; its state once it runs. */
    public static String start(RealCluster cluster) {
        cluster.runPod(NAMESPACE, NAME, 4, "ls /dev/nvidia[0-9]*; sleep 3600");
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(state(cluster)).startsWith("Running"));
        return state(cluster);
    }

    /** All that would change if it were disturbed. */
    public static String state(RealCluster cluster) {
        return cluster.podState(NAMESPACE, NAME);
    }

    /** Index of a GPU that it does not hold. */
    public static int gpuThatItLeaves(RealCluster cluster) {
        return gpu(cluster, false);
    }

    /** Index of a GPU that it holds. */
    public static int gpuThatItHolds(RealCluster cluster) {
        return gpu(cluster, true);
    }

    private static int gpu(RealCluster cluster, boolean held) {
        List<String> devices = cluster.podLog(NAMESPACE, NAME).lines().toList();
        assertThat(devices).hasSize(4);
        return IntStream.range(0, 8)
                .filter(index -> devices.contains("/dev/nvidia" + index) == held)
                .findFirst()
                .orElseThrow();
    }

    public static void end(RealCluster cluster) {
        cluster.deletePod(NAMESPACE, NAME);
    }
}
