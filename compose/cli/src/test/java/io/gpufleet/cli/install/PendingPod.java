package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.RealCluster;

/** A pod that the scheduler binds to no node. */
public final class PendingPod {
    private PendingPod() {}

    /** Returns when the scheduler says of a pod that it is unschedulable, with these words. */
    public static void awaitReason(RealCluster cluster, String namespace, String name, String words) {
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(cluster.client()
                                .pods()
                                .inNamespace(namespace)
                                .withName(name)
                                .get()
                                .getStatus()
                                .getConditions())
                        .as(name)
                        .anySatisfy(condition -> {
                            assertThat(condition.getReason()).isEqualTo("Unschedulable");
                            assertThat(condition.getMessage()).contains(words);
                        }));
    }
}
