package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.drain.DrainHarness;
import io.gpufleet.health.app.drain.PodClient.PodList;
import io.gpufleet.health.app.drain.PodClient.PodResponse;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.PodOnNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract of {@link KubernetesPodClient} on any API server: a GPU pod, its PodDisruptionBudget, its eviction. */
interface PodClientContract {
    /** Node and namespace of these tests. */
    String NAME = "gpufleet-it-drain";

    /** Time limit for an API server. */
    Duration TIMEOUT = Duration.ofSeconds(60);

    /** Client of an administrator; stays open. */
    KubernetesClient client();

    /** Client with the rights of the health-service. */
    default KubernetesClient service() {
        return client();
    }

    @BeforeEach
    default void create() {
        removeAll();
        client().nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NAME)
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoSchedule", "gpufleet.io/it", null, "drain")
                        .endSpec()
                        .build())
                .create();
        client().namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAME)
                        .endMetadata()
                        .build())
                .create();
        // The service account of a new namespace takes a moment, and no pod is admitted before it.
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> client().pods().inNamespace(NAME).resource(pod()).create() != null);
        client().pods()
                .inNamespace(NAME)
                .withName("train-0")
                .editStatus(pod -> new PodBuilder(pod)
                        .editOrNewStatus()
                        .withPhase("Running")
                        .addNewCondition()
                        .withType("Ready")
                        .withStatus("True")
                        .endCondition()
                        .endStatus()
                        .build());
    }

    /** A running pod with a GPU, of a Job. */
    private static Pod pod() {
        return new PodBuilder()
                .withNewMetadata()
                .withName("train-0")
                .withNamespace(NAME)
                .withLabels(Map.of("app", "train", "batch.kubernetes.io/job-name", "train"))
                .endMetadata()
                .withNewSpec()
                .withNodeName(NAME)
                .withTerminationGracePeriodSeconds(1L)
                .addNewContainer()
                .withName("train")
                .withImage("example.invalid/train")
                .withNewResources()
                .withLimits(Map.of("nvidia.com/gpu", new Quantity("1")))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    @AfterEach
    default void removeAll() {
        client().policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(NAME)
                .withName("train")
                .delete();
        client().pods().inNamespace(NAME).withName("train-0").withGracePeriod(0).delete();
        client().namespaces().withName(NAME).delete();
        client().nodes().withName(NAME).withGracePeriod(0).delete();
        await().atMost(TIMEOUT)
                .until(() -> client().namespaces().withName(NAME).get() == null
                        && client().nodes().withName(NAME).get() == null);
    }

    private KubernetesPodClient pods() {
        return new KubernetesPodClient(service(), Clock.systemUTC());
    }

    private PodOnNode train() {
        PodList list = pods().onNode(NAME);
        assertThat(list).isInstanceOf(PodList.Listed.class);
        return ((PodList.Listed) list)
                .pods().stream()
                        .filter(pod -> pod.name().namespace().equals(NAME))
                        .findFirst()
                        .orElseThrow();
    }

    private PodDisruptionBudget block() {
        return client().policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(NAME)
                .resource(new PodDisruptionBudgetBuilder()
                        .withNewMetadata()
                        .withName("train")
                        .withNamespace(NAME)
                        .endMetadata()
                        .withNewSpec()
                        .withMinAvailable(new IntOrString(1))
                        .withNewSelector()
                        .withMatchLabels(Map.of("app", "train"))
                        .endSelector()
                        .endSpec()
                        .build())
                .create();
    }

    private boolean gone() {
        Pod pod = client().pods().inNamespace(NAME).withName("train-0").get();
        return pod == null || pod.getMetadata().getDeletionTimestamp() != null;
    }

    @Test
    default void aPodIsListedWithItsJobAndItsGpus() {
        PodOnNode pod = train();

        assertThat(pod.job()).isEqualTo(NAME + "/Job/train");
        assertThat(pod.requestsGpu()).isTrue();
        assertThat(pod.phase()).isEqualTo(PodOnNode.Phase.LIVE);
        assertThat(pod.eviction()).isEmpty();
    }

    @Test
    default void aNoticeIsAnAnnotationAndAnEventAndCanBeTakenBack() {
        Instant at = Instant.parse("2026-03-01T10:05:00Z");

        assertThat(pods().giveNotice(train(), at, "evicted at " + at)).isEqualTo(new PodResponse.Done());

        assertThat(train().eviction()).contains(at);
        assertThat(client().v1().events().inNamespace(NAME).list().getItems())
                .anyMatch(event -> Objects.equals(event.getReason(), "GpuOutOfService")
                        && event.getInvolvedObject().getName().equals("train-0"));

        assertThat(pods().withdrawNotice(train())).isEqualTo(new PodResponse.Done());
        assertThat(train().eviction()).isEmpty();
    }

    @Test
    default void aBudgetThatBlocksIsSaidAndThePodStays() {
        block();

        PodResponse response = pods().evict(train());

        assertThat(response).isInstanceOf(PodResponse.Blocked.class);
        assertThat(((PodResponse.Blocked) response).reason()).startsWith("429 ");
        assertThat(gone()).isFalse();
    }

    @Test
    default void anotherPodOfTheSameNameIsNotEvicted() {
        PodOnNode pod = train();
        var former = new PodOnNode(
                new PodOnNode.PodName(NAME, "train-0", "00000000-0000-0000-0000-000000000000"),
                pod.job(),
                pod.kind(),
                pod.phase(),
                true,
                null);

        assertThat(List.of(pods().evict(former), pods().delete(former))).doesNotContain(new PodResponse.Done());
        assertThat(gone()).isFalse();
    }

    @Test
    default void aDrainWaitsForTheBudgetAndEndsWhenItAllows() {
        // Given
        PodDisruptionBudget budget = block();
        var drain = new DrainHarness(NAME, pods(), heldLease());

        // When
        await().atMost(TIMEOUT).until(() -> drain.step().message().contains("refused: 429"));

        // Then
        assertThat(gone()).isFalse();
        assertThat(drain.progress().jobs()).containsExactly(NAME + "/Job/train");

        // When
        client().resource(budget).delete();
        await().atMost(TIMEOUT).until(() -> {
            drain.step();
            return gone();
        });
        client().pods().inNamespace(NAME).withName("train-0").withGracePeriod(0).delete();

        // Then
        await().atMost(TIMEOUT).until(() -> drain.step().phase() == DrainProgress.Phase.DRAINED);
    }

    private static CurrentLease heldLease() {
        var lease = new CurrentLease();
        lease.begin(() -> true);
        return lease;
    }
}
