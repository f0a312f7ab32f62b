package io.gpufleet.cli.release;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.TestImages;
import io.gpufleet.cli.install.Training;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.testbed.testkit.RealCluster;

/** The next release of every program and the former one again, while a pod trains, a GPU fails and pods are admitted. */
public final class ReleaseChange {
    private ReleaseChange() {}

    /** No event is missed, the pod is not disturbed, and no pod of the namespace, which is enforced, is refused. */
    public static void thereAndBack(
            RealCluster cluster, Installation installation, InstalledNode node, String namespace) throws Exception {
        ServiceLinks.create(cluster.client());
        String before = Training.start(cluster);

        try (var pods = new AdmittedPods(cluster.client().getConfiguration(), namespace);
                var gpus = new AllocatableGpus(cluster, 7)) {
            // When a GPU fails while the services are replaced
            int failing = Training.gpuThatItLeaves(cluster);
            node.fail(failing);
            // What the pods count that are replaced is gone with them
            assertThat(installation.metrics().missedEvents()).isEmpty();
            installation.useRelease(TestImages.NEXT_RELEASE);
            assertThat(installation.metrics().versions()).containsExactly(TestImages.NEXT_RELEASE);
            node.awaitTaint();
            node.awaitGpus(7);
            // and recovers on the way back
            node.recover(failing);
            assertThat(installation.metrics().missedEvents()).isEmpty();
            installation.useRelease(TestImages.RELEASE);

            // Then
            assertThat(installation.metrics().versions())
                    .containsExactly(BuildInfo.current().version());
            assertThat(installation.metrics().missedEvents()).isEmpty();
            node.awaitNoTaint();
            node.awaitGpus(8);
            gpus.assertBack();
            assertThat(pods.refused()).isEmpty();
            assertThat(pods.admitted()).isPositive();
        }
        assertThat(installation.restarts(Installation.SERVICES)).isZero();
        assertThat(Training.state(cluster)).isEqualTo(before);
        Training.end(cluster);
    }
}
