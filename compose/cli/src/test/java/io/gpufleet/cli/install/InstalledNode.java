package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.io.IOException;
import java.time.Duration;

/** The node with the real kubelet under an installation: its simulated GPUs fail, and the effect on it is awaited. */
public final class InstalledNode {
    public static final String TAINT = "taint gpufleet.io/unhealthy";
    /** That of the component gpu-taint. */
    public static final String GPU_TAINT = "taint nvidia.com/gpu";

    /** Limit for what follows from a change. */
    public static final Duration EFFECT = Duration.ofSeconds(60);

    private final RealCluster cluster;
    private final SimulatedFaults faults;

    public InstalledNode(RealCluster cluster, SimulatedFaults faults) {
        this.cluster = cluster;
        this.faults = faults;
    }

    /** Lets a GPU fall off the bus. */
    public void fail(int gpu) throws IOException {
        faults.inject(gpu, 79);
    }

    /** Clears the fault of a GPU. */
    public void recover(int gpu) throws IOException {
        faults.clear(gpu);
    }

    /** Lets GPU 3 fail; returns when there is something to purge: taint, labels and condition. */
    public void failAndAwaitFields() throws IOException {
        fail(3);
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(AppliedFields.of(cluster.node()))
                        .containsKey(TAINT)
                        .containsKey("label nvidia.com/gpu.count")
                        .containsKey("condition GpuUnhealthy"));
    }

    /** Returns when the node has this number of allocatable GPUs. */
    public void awaitGpus(int count) {
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.allocatableGpus()).isEqualTo(count));
    }

    /** Returns when the node has the taint of a fault. */
    public void awaitTaint() {
        awaitField(TAINT);
    }

    /** Returns when the node has one of {@link AppliedFields}. */
    public void awaitField(String field) {
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(AppliedFields.of(cluster.node())).containsKey(field));
    }

    /** Returns when the node does not have the taint of a fault. */
    public void awaitNoTaint() {
        await().atMost(EFFECT)
                .untilAsserted(
                        () -> assertThat(AppliedFields.of(cluster.node())).doesNotContainKey(TAINT));
    }

    /** Returns when the node has a label with this value. */
    public void awaitLabel(String key, String value) {
        await().atMost(EFFECT)
                .untilAsserted(() -> assertThat(cluster.label(key)).isEqualTo(value));
    }
}
