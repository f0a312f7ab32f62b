package io.gpufleet.testbed.fakekubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class SimulatedPodTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.678Z");

    @Test
    void onlyExtendedResourcesAreRequested() {
        assertThat(SimulatedPod.deviceRequests(pod("2")))
                .containsExactly(new SimulatedPod.DeviceRequest("main", "nvidia.com/gpu", 2));
        assertThat(SimulatedPod.deviceRequests(pod("0"))).isEmpty();
    }

    @Test
    void podRunsForTimeOfItsAnnotation() {
        assertThat(SimulatedPod.runFor(annotated("3s"))).contains(Duration.ofSeconds(3));
        assertThat(SimulatedPod.runFor(annotated("250ms"))).contains(Duration.ofMillis(250));
        assertThat(SimulatedPod.runFor(annotated("soon"))).isEmpty();
        assertThat(SimulatedPod.runFor(pod("1"))).isEmpty();
    }

    @Test
    void runningPodKeepsTheConditionsOfOthers() {
        // When
        PodStatus status = SimulatedPod.running(pod("1"), NOW);
        // Then
        assertThat(status.getPhase()).isEqualTo("Running");
        assertThat(status.getStartTime()).isEqualTo("2026-01-02T03:04:05Z");
        assertThat(status.getConditions())
                .extracting(PodCondition::getType)
                .containsExactly("PodScheduled", "Initialized", "ContainersReady", "Ready");
        assertThat(status.getContainerStatuses().getFirst().getReady()).isTrue();
    }

    @Test
    void terminatedPodReportsFinishTimeOfContainers() {
        // When
        PodStatus succeeded = SimulatedPod.terminated(pod("1"), 0, NOW);
        PodStatus killed = SimulatedPod.terminated(pod("1"), 143, NOW);
        // Then
        assertThat(succeeded.getPhase()).isEqualTo("Succeeded");
        assertThat(succeeded
                        .getContainerStatuses()
                        .getFirst()
                        .getState()
                        .getTerminated()
                        .getFinishedAt())
                .isEqualTo("2026-01-02T03:04:05Z");
        assertThat(killed.getPhase()).isEqualTo("Failed");
    }

    @Test
    void rejectedPodCarriesReasonOfKubelet() {
        assertThat(SimulatedPod.rejected(pod("1"), "no device", NOW))
                .extracting(PodStatus::getPhase, PodStatus::getReason, PodStatus::getMessage)
                .containsExactly("Failed", "UnexpectedAdmissionError", "Pod was rejected: no device");
    }

    private static Pod annotated(String runFor) {
        return new PodBuilder(pod("1"))
                .editMetadata()
                .addToAnnotations(SimulatedPod.RUN_FOR, runFor)
                .endMetadata()
                .build();
    }

    private static Pod pod(String gpus) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("pod")
                .withNamespace("ns")
                .withUid("uid")
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("main")
                .withImage("busybox")
                .withNewResources()
                .addToLimits("nvidia.com/gpu", new Quantity(gpus))
                .addToLimits("cpu", new Quantity("1"))
                .endResources()
                .endContainer()
                .endSpec()
                .withNewStatus()
                .withPhase("Pending")
                .addNewCondition()
                .withType("PodScheduled")
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build();
    }
}
