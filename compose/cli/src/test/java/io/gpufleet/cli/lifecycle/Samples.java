package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.PendingPod;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;

/**
 * The pods of k8s/samples as they are written, but for image and command, which are those that this machine has: each must
 * run to its end with as many devices as it asks for.
 */
final class Samples {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String NAMESPACE = "gpufleet-it-samples";

    /** One line a device: its node, or its name where the strategy gives names. */
    private static final String PRINT_DEVICES =
            "ls /dev/nvidia[0-9]* 2>/dev/null || echo $NVIDIA_VISIBLE_DEVICES | tr , '\\n'";

    private Samples() {}

    /** Runs every pod of a file, one after the other; its quotas must refuse what exceeds them. */
    static void run(RealCluster cluster, String file) {
        createNamespace(cluster);
        for (HasMetadata sample : objects(cluster, file)) {
            switch (sample) {
                case Pod pod -> run(cluster, pod);
                case ResourceQuota quota -> assertLimits(cluster, quota);
                default -> throw new AssertionError(file + " has a " + sample.getKind());
            }
        }
        deleteNamespace();
    }

    /** Runs the pod of a file that has this name. */
    static void run(RealCluster cluster, String file, String name) {
        createNamespace(cluster);
        run(cluster, pod(cluster, file, name));
        deleteNamespace();
    }

    /** Of two pods that are equal to the one of this name, the second stays Pending beside the first. */
    static void keepApart(RealCluster cluster, String file, String name) {
        createNamespace(cluster);
        Pod pod = pod(cluster, file, name);
        pod.getSpec().setTerminationGracePeriodSeconds(0L);
        useImageOfTheCluster(pod, "sleep 3600");
        cluster.client().pods().inNamespace(NAMESPACE).resource(pod).create();
        await().atMost(TIMEOUT)
                .untilAsserted(() ->
                        assertThat(cluster.podState(NAMESPACE, name)).as(name).startsWith("Running"));
        pod.getMetadata().setName(name + "-too");
        cluster.client().pods().inNamespace(NAMESPACE).resource(pod).create();
        PendingPod.awaitReason(cluster, NAMESPACE, name + "-too", "didn't match pod anti-affinity rules");
        deleteNamespace();
    }

    private static void createNamespace(RealCluster cluster) {
        cluster.client()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAMESPACE)
                        .endMetadata()
                        .build())
                .createOr(namespace -> namespace.update());
        // Made by a controller; without it the API server admits no pod.
        await().atMost(TIMEOUT)
                .until(() -> cluster.client()
                                .serviceAccounts()
                                .inNamespace(NAMESPACE)
                                .withName("default")
                                .get()
                        != null);
    }

    private static void deleteNamespace() {
        Kubectl.run("delete", "namespace", NAMESPACE, "--wait=true", "--timeout=60s");
    }

    private static Pod pod(RealCluster cluster, String file, String name) {
        return objects(cluster, file).stream()
                .filter(sample -> sample.getMetadata().getName().equals(name))
                .map(Pod.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError(file + " has no pod " + name));
    }

    private static List<HasMetadata> objects(RealCluster cluster, String file) {
        try (InputStream text =
                Files.newInputStream(Repository.module("k8s/samples").resolve(file))) {
            return cluster.client().load(text).items();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static void run(RealCluster cluster, Pod pod) {
        String name = pod.getMetadata().getName();
        useImageOfTheCluster(pod, PRINT_DEVICES);
        cluster.client().pods().inNamespace(NAMESPACE).resource(pod).create();
        await().atMost(TIMEOUT)
                .untilAsserted(() ->
                        assertThat(cluster.podState(NAMESPACE, name)).as(name).startsWith("Succeeded"));
        for (Container container : pod.getSpec().getContainers()) {
            int wanted = container.getResources().getLimits().values().stream()
                    .mapToInt(limit -> Integer.parseInt(limit.getAmount()))
                    .sum();
            assertThat(cluster.client()
                            .pods()
                            .inNamespace(NAMESPACE)
                            .withName(name)
                            .inContainer(container.getName())
                            .getLog()
                            .lines())
                    .as(name)
                    .hasSize(wanted)
                    .allMatch(device -> device.matches("/dev/nvidia[0-7]|(GPU|MIG)-[0-9a-f-]{36}"));
        }
        cluster.deletePod(NAMESPACE, name);
    }

    private static void useImageOfTheCluster(Pod pod, String shellCommand) {
        for (Container container : pod.getSpec().getContainers()) {
            container.setImage("testbed/busybox:1");
            container.setImagePullPolicy("IfNotPresent");
            container.setCommand(List.of("sh", "-c", shellCommand));
        }
    }

    private static void assertLimits(RealCluster cluster, ResourceQuota quota) {
        cluster.client().resourceQuotas().inNamespace(NAMESPACE).resource(quota).create();
        int limit = Integer.parseInt(
                quota.getSpec().getHard().values().iterator().next().getAmount());
        var tooBig = RealCluster.pod(NAMESPACE, "too-big", limit + 1, "true");
        // The controller counts what is there before the API server refuses.
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThatThrownBy(
                                () -> cluster.client().resource(tooBig).dryRun().create())
                        .isInstanceOf(KubernetesClientException.class)
                        .hasMessageContaining(
                                "exceeded quota: " + quota.getMetadata().getName()));
    }
}
