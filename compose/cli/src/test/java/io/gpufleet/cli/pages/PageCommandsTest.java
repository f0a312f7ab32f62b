package io.gpufleet.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.PageCommands;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands of the pages, which {@code Installation} runs on a real cluster in the same order. */
class PageCommandsTest {
    @Test
    void firstPageInstallsAsThePageOfTheManifests() {
        assertThat(commands("README.md", "./gpufleet images build"))
                .isEqualTo(commands("k8s/README.md", "./gpufleet images build"))
                .containsExactly("apply -k k8s/base/crds", "apply -k k8s/overlays/mine");
    }

    @Test
    void upgradeEndsWithTheServiceOfTheWebhook() {
        assertThat(commands("k8s/docs/upgrade.md", "kubectl apply -k k8s/base/crds"))
                .containsExactly(
                        "apply -k k8s/base/crds",
                        "-n gpufleet-system delete job topics --ignore-not-found",
                        "apply -k k8s/overlays/mine -l app.kubernetes.io/name!=allocation-service",
                        "-n gpufleet-system rollout status statefulset/inventory-service",
                        "-n gpufleet-system rollout status statefulset/health-service",
                        "-n gpufleet-node rollout status daemonset/node-daemon",
                        "apply -k k8s/overlays/mine",
                        "-n gpufleet-system rollout status statefulset/allocation-service");
    }

    @Test
    void overlayIsDeletedBeforeTheDefinitionOfQuotas() {
        assertThat(commands("k8s/README.md", "./gpufleet purge"))
                .containsExactly("delete -k k8s/overlays/mine --ignore-not-found", "delete -k k8s/base/crds");
    }

    @Test
    void jobOfThePurgeIsDeletedOnceItIsComplete() {
        assertThat(commands("k8s/README.md", "kubectl apply -k k8s/overlays/mine-purge"))
                .containsExactly(
                        "apply -k k8s/overlays/mine-purge",
                        "-n gpufleet-purge wait --for=condition=complete job/purge --timeout=3m",
                        "delete -k k8s/overlays/mine-purge");
    }

    private static List<String> commands(String page, String line) {
        return PageCommands.kubectl(page, line).stream()
                .map(arguments -> String.join(" ", arguments))
                .toList();
    }
}
