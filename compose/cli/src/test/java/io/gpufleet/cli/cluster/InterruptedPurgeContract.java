package io.gpufleet.cli.cluster;

import static io.gpufleet.cli.cluster.InstalledObjects.NAMESPACE;
import static io.gpufleet.cli.cluster.InstalledObjects.NODES;
import static io.gpufleet.cli.cluster.InstalledObjects.WEBHOOK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A purge that is killed before one of its writes, each of them once, and then run again. */
interface InterruptedPurgeContract {
    /** Client of an administrator. */
    KubernetesClient client();

    @Test
    default void purgeThatWasKilledBeforeAnyWriteLeavesNothingWhenItIsRunAgain() {
        int killedBefore = 0;
        boolean interrupted;
        do {
            // Given
            InstalledObjects.create(client());
            // When
            interrupted = endsBefore(killedBefore);
            if (interrupted) {
                assertThat(webhookIsThere()).as("webhook first").isEqualTo(killedBefore == 0);
            }
            purge(client());
            // Then
            assertThat(webhookIsThere()).isFalse();
            assertThat(remains()).as("killed before write " + killedBefore).isEmpty();
            assertThat(purge(client()))
                    .as("what is left for a third run")
                    .noneMatch(
                            line -> line.contains(NAMESPACE) || NODES.stream().anyMatch(line::contains));
            InstalledObjects.delete(client());
            killedBefore++;
        } while (interrupted);
        // The webhook, the StatefulSet, the namespace, and of each Node taints, cordon, labels, annotations and
        // condition; a conflict with the control plane, which taints a Node that is not ready, is one write more.
        assertThat(killedBefore - 1).isGreaterThanOrEqualTo(3 + 5 * NODES.size());
    }

    private static List<String> purge(KubernetesClient client) {
        var lines = new ArrayList<String>();
        new ClusterPurge(client, lines::add).run(NAMESPACE);
        return lines;
    }

    /** Purges until a write; false where the purge had no more than those before it. */
    private boolean endsBefore(int write) {
        var writes = new AtomicInteger();
        Interceptor killer = new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                if (!request.method().equals("GET") && writes.getAndIncrement() == write) {
                    throw new IllegalStateException("killed");
                }
            }
        };
        try (var killed = new KubernetesClientBuilder()
                .withConfig(client().getConfiguration())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("killer", killer))
                .build()) {
            Throwable end = catchThrowable(() -> purge(killed));
            if (writes.get() <= write) {
                assertThat(end).isNull();
                return false;
            }
            assertThat(end).hasStackTraceContaining("killed");
            return true;
        }
    }

    private boolean webhookIsThere() {
        return client().admissionRegistration()
                        .v1()
                        .validatingWebhookConfigurations()
                        .withName(WEBHOOK)
                        .get()
                != null;
    }

    /** What of ours is on the objects of others, and services that still run. */
    private List<String> remains() {
        var remains = new ArrayList<String>();
        for (String name : NODES) {
            Node node = client().nodes().withName(name).get();
            node.getMetadata().getLabels().keySet().stream()
                    .filter(InterruptedPurgeContract::ours)
                    .forEach(remains::add);
            if (node.getMetadata().getAnnotations() != null) {
                node.getMetadata().getAnnotations().keySet().stream()
                        .filter(InterruptedPurgeContract::ours)
                        .forEach(remains::add);
            }
            node.getSpec().getTaints().stream()
                    .map(taint -> taint.getKey())
                    .filter(InterruptedPurgeContract::ours)
                    .forEach(remains::add);
            node.getStatus().getConditions().stream()
                    .map(condition -> condition.getType())
                    .filter("GpuUnhealthy"::equals)
                    .forEach(remains::add);
            if (Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
                remains.add("cordon");
            }
        }
        if (client().namespaces()
                .withName(NAMESPACE)
                .get()
                .getMetadata()
                .getLabels()
                .containsKey("gpufleet.io/quota")) {
            remains.add("label of the namespace");
        }
        if (client().apps()
                        .statefulSets()
                        .inNamespace(NAMESPACE)
                        .withName("health-service")
                        .get()
                        .getSpec()
                        .getReplicas()
                > 0) {
            remains.add("health-service");
        }
        return remains;
    }

    private static boolean ours(String key) {
        return key.startsWith("gpufleet.io/") || key.startsWith("nvidia.com/");
    }
}
