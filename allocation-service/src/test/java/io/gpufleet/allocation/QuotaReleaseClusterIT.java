package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What was admitted and never came to be, and what went in another way than by its deletion, counts no longer, on the API
 * server of {@code GPUFLEET_TEST_KUBECONFIG}.
 */
class QuotaReleaseClusterIT {
    private static final int LIMIT = 6;
    /** A pod that was admitted and never seen counts for 70 s. */
    private static final Duration TIMEOUT = Duration.ofSeconds(150);

    @TempDir
    private static Path dir;

    private static QuotaTestEnvironment environment;

    private String namespace = "";

    @BeforeAll
    static void open() throws Exception {
        environment = QuotaTestEnvironment.ofRealCluster(dir);
    }

    @AfterAll
    static void close() {
        environment.close();
    }

    @BeforeEach
    void limitANamespace() {
        namespace = environment.namespace();
        environment.awaitServiceAccount(namespace);
        environment.quota(environment.uniqueName("release"), "Enforce", "Deny", Map.of("A100", LIMIT), namespace);
    }

    private String create(String name) {
        return environment.create(environment.a100Pod(namespace, name, 1));
    }

    /** Pods of new names are admitted until the limit is used, exactly. */
    private void awaitRoomFor(int number) {
        int before = environment.gpusIn(namespace);
        await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(500)).until(() -> {
            create("next-" + (environment.gpusIn(namespace) - before));
            return environment.gpusIn(namespace) == before + number;
        });
        assertThat(create("beyond")).contains("denied the request");
    }

    @Test
    void podsThatFailAfterTheirReviewLeakNothing() {
        // Given a ResourceQuota, which the API server checks after every webhook, and a namespace where names are taken
        String full = namespace;
        var pods = resourceQuota();
        long failed = IntStream.range(0, LIMIT)
                .filter(i -> create("wanted-" + i).contains("exceeded quota"))
                .count();
        assertThat(failed).isEqualTo(LIMIT - 2);
        limitANamespace();
        create("a");
        create("b");
        for (int i = 0; i < LIMIT; i++) {
            assertThat(create("a")).contains("already exists");
        }
        // Then
        awaitRoomFor(LIMIT - 2);
        pods.delete();
        namespace = full;
        awaitRoomFor(LIMIT - 2);
    }

    /** Of two pods; returns when it is enforced. */
    private Resource<ResourceQuota> resourceQuota() {
        var pods = environment
                .client()
                .resource(new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withName("pods")
                        .withNamespace(namespace)
                        .endMetadata()
                        .withNewSpec()
                        .withHard(Map.of("pods", new Quantity("2")))
                        .endSpec()
                        .build());
        pods.create();
        await().atMost(TIMEOUT)
                .until(() -> pods.get().getStatus() != null
                        && pods.get().getStatus().getHard() != null
                        && !pods.get().getStatus().getHard().isEmpty());
        return pods;
    }

    @Test
    void evictedPodsMakeRoom() {
        IntStream.range(0, LIMIT)
                .forEach(i -> assertThat(create("evicted-" + i)).isEmpty());
        assertThat(create("beyond")).contains("denied the request");

        IntStream.range(0, LIMIT)
                .forEach(i -> assertThat(environment
                                .client()
                                .pods()
                                .inNamespace(namespace)
                                .withName("evicted-" + i)
                                .evict())
                        .isTrue());

        await().atMost(TIMEOUT).until(() -> environment.gpusIn(namespace) == 0);
        awaitRoomFor(LIMIT);
    }

    @Test
    void podsOfADeadNodeMakeRoomWhileTheyAreStillThere() {
        // Given pods of a node that no kubelet serves
        String node = environment.uniqueName("gpufleet-it-dead");
        var dead = environment
                .client()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .endMetadata()
                        .build());
        dead.create();
        try {
            IntStream.range(0, LIMIT)
                    .forEach(i -> assertThat(environment.create(on(node, "dead-" + i)))
                            .isEmpty());
            // When
            environment
                    .client()
                    .pods()
                    .inNamespace(namespace)
                    .withGracePeriod(1)
                    .delete();
            // Then
            awaitRoomFor(LIMIT);
            assertThat(environment.gpusIn(namespace)).isEqualTo(2 * LIMIT);
        } finally {
            environment
                    .client()
                    .pods()
                    .inNamespace(namespace)
                    .withGracePeriod(0)
                    .delete();
            dead.delete();
        }
    }

    private Pod on(String node, String name) {
        return new PodBuilder(environment.a100Pod(namespace, name, 1))
                .editSpec()
                .withNodeName(node)
                .withNodeSelector(Map.of("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"))
                .endSpec()
                .build();
    }
}
