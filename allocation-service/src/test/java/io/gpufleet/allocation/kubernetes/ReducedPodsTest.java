package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the informer of pods remembers. */
class ReducedPodsTest {
    private final ReducedPods pods = new ReducedPods(new KubernetesSerialization());

    private static Pod pod(String resource) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("ml")
                .withName("train")
                .withGenerateName("tra")
                .withUid("u1")
                .withResourceVersion("7")
                .addToLabels("team", "vision")
                .addToAnnotations("big", "x".repeat(1000))
                .withDeletionTimestamp("2026-01-02T03:04:05Z")
                .withDeletionGracePeriodSeconds(30L)
                .addNewOwnerReference()
                .withKind("Job")
                .withName("train")
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .withNewSpec()
                .withNodeName("a")
                .addToNodeSelector("gpu", "a100")
                .withNewAffinity()
                .withNewNodeAffinity()
                .withNewRequiredDuringSchedulingIgnoredDuringExecution()
                .addNewNodeSelectorTerm()
                .addNewMatchExpression()
                .withKey("gpu")
                .withOperator("In")
                .withValues(List.of("a100"))
                .endMatchExpression()
                .endNodeSelectorTerm()
                .endRequiredDuringSchedulingIgnoredDuringExecution()
                .endNodeAffinity()
                .endAffinity()
                .addNewContainer()
                .withName("main")
                .withImage("image")
                .withNewResources()
                .addToLimits(resource, new Quantity("2"))
                .endResources()
                .endContainer()
                .endSpec()
                .withNewStatus()
                .withPhase("Failed")
                .addNewContainerStatus()
                .withName("main")
                .withNewState()
                .withNewTerminated()
                .withFinishedAt("2026-01-02T03:04:00Z")
                .endTerminated()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    @Test
    void podWithGpusIsRememberedAsItIsObserved() {
        Pod pod = pod("nvidia.com/gpu");
        // When
        pods.put("ml/train", pod);
        // Then
        Pod remembered = Objects.requireNonNull(pods.get("ml/train"));
        assertThat(PodMapper.observed(remembered, true)).isEqualTo(PodMapper.observed(pod, true));
        assertThat(remembered.getMetadata().getResourceVersion()).isEqualTo("7");
        assertThat(remembered.getMetadata().getAnnotations()).isEmpty();
        assertThat(pods.values()).containsExactly(remembered);
        assertThat(pods.remove("ml/train")).isEqualTo(remembered);
        assertThat(pods.get("ml/train")).isNull();
    }

    @Test
    void podOfADeploymentIsRememberedWithTheNameOfItsDeployment() {
        Pod pod = new PodBuilder(pod("nvidia.com/gpu"))
                .editMetadata()
                .addToLabels("pod-template-hash", "5f6")
                .withOwnerReferences(new OwnerReferenceBuilder()
                        .withApiVersion("apps/v1")
                        .withKind("ReplicaSet")
                        .withName("serve-5f6")
                        .withController(true)
                        .build())
                .endMetadata()
                .build();
        // When
        pods.put("ml/train", pod);
        // Then
        Pod remembered = Objects.requireNonNull(pods.get("ml/train"));
        assertThat(PodMapper.observed(remembered, true)).isEqualTo(PodMapper.observed(pod, true));
    }

    @Test
    void podThatAListLacksIsStillKnownAsItWasObserved() {
        Pod pod = pod("nvidia.com/gpu");
        pods.put("ml/train", pod);
        // When the informer finds it among all pods and removes it
        Pod gone = pods.values().toList().getFirst();
        assertThat(pods.getKey(gone)).isEqualTo("ml/train");
        pods.remove("ml/train");
        // Then
        assertThat(PodMapper.mayRequestGpus(gone)).isTrue();
        assertThat(PodMapper.observed(gone, true)).isEqualTo(PodMapper.observed(pod, true));
    }

    @Test
    void podWithoutGpusIsRememberedByNameAndVersion() {
        pods.put("ml/train", pod("cpu"));
        // Then
        Pod remembered = Objects.requireNonNull(pods.get("ml/train"));
        assertThat(remembered.getSpec()).isNull();
        assertThat(remembered.getMetadata().getUid()).isEqualTo("u1");
        assertThat(remembered.getMetadata().getResourceVersion()).isEqualTo("7");
    }
}
