package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import java.util.Set;

/** The first three stages of docs/stages.md, one switch after the other, with a failing GPU in each of the first two. */
final class Stages {
    private static final String CONDITION = "condition GpuUnhealthy";
    private static final String COUNT = "nvidia.com/gpu.count";

    private final Installation installation;
    private final InstalledNode node;

    Stages(Installation installation, InstalledNode node) {
        this.installation = installation;
        this.node = node;
    }

    /** From an installation that only observes to one that labels and taints Nodes. */
    void pass() throws Exception {
        observe();
        Set<String> before = installation.pods("inventory-service");

        // When changed settings replace the pods
        installation.writeLabels();

        assertThat(installation.pods("inventory-service")).hasSize(2).doesNotContainAnyElementsOf(before);
        node.awaitLabel(COUNT, "8");
        failOnALabelledNode();
        installation.enforce();
        node.awaitLabel(COUNT, "8");
    }

    /** A condition and fields of our own prefix, and nothing else. */
    private void observe() throws Exception {
        failAndAwaitCondition(3);
        // And the labels are known, as the active replica says
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.metrics().ofService("inventory-service"))
                        .contains("gpufleet_label_differences 1"));
        assertThat(installation.appliedFields().keySet())
                .filteredOn(field -> !field.equals(CONDITION))
                .allMatch(field -> field.matches("(label|annotation) gpufleet\\.io/.*"));
        recover(3);
    }

    /** Labels as well, and still no taint. */
    private void failOnALabelledNode() throws Exception {
        failAndAwaitCondition(4);
        assertThat(installation.appliedFields().keySet())
                .contains("label " + COUNT)
                .filteredOn(field -> !field.equals(CONDITION))
                .allMatch(field -> field.matches("(label|annotation) .*"));
        recover(4);
    }

    private void failAndAwaitCondition(int gpu) throws Exception {
        node.fail(gpu);
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.appliedFields()).containsEntry(CONDITION, "True"));
    }

    private void recover(int gpu) throws Exception {
        node.recover(gpu);
        await().atMost(InstalledNode.EFFECT)
                .untilAsserted(() -> assertThat(installation.appliedFields()).doesNotContainEntry(CONDITION, "True"));
    }
}
