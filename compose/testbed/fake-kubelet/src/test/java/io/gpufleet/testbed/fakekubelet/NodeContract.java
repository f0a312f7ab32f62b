package io.gpufleet.testbed.fakekubelet;

import static io.gpufleet.testbed.fakekubelet.TestDevicePlugin.RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.config.ConfigurationException;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Contract of the fake kubelet for its Node and pods, on any Kubernetes API. */
interface NodeContract {
    String NODE = "contract-node";
    String NAMESPACE = "default";

    KubernetesClient client();

    FakeKubelet kubelet();

    TestDevicePlugin plugin();

    @Test
    default void nodeIsReadyAndReportsItsDevices() throws Exception {
        // When
        plugin().register();
        // Then
        awaitAllocatable("3");
        Node node = client().nodes().withName(NODE).get();
        assertThat(node.getMetadata().getLabels())
                .containsEntry("gpufleet.io/simulated", "true")
                .containsEntry("kubernetes.io/hostname", NODE);
        assertThat(node.getStatus().getNodeInfo().getBootID()).isEqualTo("boot");
        assertThat(node.getStatus().getConditions())
                .filteredOn(condition -> condition.getType().equals("Ready"))
                .extracting(NodeCondition::getStatus)
                .containsExactly("True");
    }

    @Test
    default void withdrawnDeviceLowersAllocatable() throws Exception {
        // Given
        plugin().register();
        awaitAllocatable("3");
        // When
        plugin().setHealth("a", "Unhealthy");
        // Then
        awaitAllocatable("2");
        assertThat(client().nodes().withName(NODE).get().getStatus().getCapacity())
                .containsEntry(RESOURCE, new Quantity("3"));
    }

    @Test
    default void podRunsForItsTimeAndSucceeds() throws Exception {
        // Given
        plugin().register();
        awaitAllocatable("3");
        // When
        create("brief", "2", Map.of(SimulatedPod.RUN_FOR, "1s"));
        // Then
        awaitPhase("brief", "Succeeded");
        assertThat(client().pods()
                        .inNamespace(NAMESPACE)
                        .withName("brief")
                        .get()
                        .getStatus()
                        .getContainerStatuses()
                        .getFirst()
                        .getState()
                        .getTerminated()
                        .getExitCode())
                .isZero();
        assertThat(kubelet().allocations()).isEmpty();
    }

    @Test
    default void deletedPodReleasesItsDevicesAndIsRemoved() throws Exception {
        // Given
        plugin().register();
        awaitAllocatable("3");
        create("lasting", "2", Map.of());
        awaitPhase("lasting", "Running");
        assertThat(kubelet().allocations()).hasSize(1);
        // When
        client().pods().inNamespace(NAMESPACE).withName("lasting").delete();
        // Then
        patiently()
                .until(() -> client().pods()
                                .inNamespace(NAMESPACE)
                                .withName("lasting")
                                .get()
                        == null);
        patiently().until(() -> kubelet().allocations().isEmpty());
    }

    @Test
    default void podThatIsNotAdmittedFailsWithReasonOfKubelet() throws Exception {
        // Given
        plugin().register();
        awaitAllocatable("3");
        plugin().rejectAllocations();
        // When
        create("refused", "1", Map.of());
        // Then
        awaitPhase("refused", "Failed");
        assertThat(client().pods()
                        .inNamespace(NAMESPACE)
                        .withName("refused")
                        .get()
                        .getStatus()
                        .getReason())
                .isEqualTo("UnexpectedAdmissionError");
    }

    @Test
    default void nodeThatIsNotSimulatedIsRefused() {
        // Given
        client().nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName("machine")
                        .endMetadata()
                        .build())
                .create();
        // When Then
        try (var keeper = new NodeStatusUpdater(client(), "machine", "boot", kubelet(), Clock.systemUTC())) {
            assertThatThrownBy(keeper::start)
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageContaining("node 'machine' exists in this cluster and is not simulated");
        } finally {
            client().nodes().withName("machine").delete();
        }
    }

    private void create(String name, String gpus, Map<String, String> annotations) {
        client().pods()
                .inNamespace(NAMESPACE)
                .resource(new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(NAMESPACE)
                        .withAnnotations(annotations)
                        .endMetadata()
                        .withNewSpec()
                        .withRestartPolicy("Never")
                        .withNodeSelector(Map.of("kubernetes.io/hostname", NODE))
                        .addNewContainer()
                        .withName("main")
                        .withImage("none")
                        .withNewResources()
                        .addToLimits(RESOURCE, new Quantity(gpus))
                        .endResources()
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    private void awaitAllocatable(String count) {
        patiently()
                .until(() -> Optional.ofNullable(
                                client().nodes().withName(NODE).get().getStatus())
                        .map(status -> status.getAllocatable().get(RESOURCE))
                        .filter(new Quantity(count)::equals)
                        .isPresent());
    }

    private void awaitPhase(String name, String phase) {
        patiently()
                .until(() -> Optional.ofNullable(client().pods()
                                .inNamespace(NAMESPACE)
                                .withName(name)
                                .get())
                        .map(Pod::getStatus)
                        .filter(status -> phase.equals(status.getPhase()))
                        .isPresent());
    }

    private static org.awaitility.core.ConditionFactory patiently() {
        return await().atMost(Duration.ofSeconds(60));
    }
}
