package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which owner of a pod is named. */
class PodOwnerTest {
    private static String owner(String apiVersion, String kind, String name, Map<String, String> labels) {
        return PodMapper.observed(
                        new PodBuilder()
                                .withNewMetadata()
                                .withName("pod")
                                .withLabels(labels)
                                .addNewOwnerReference()
                                .withApiVersion("v1")
                                .withKind("ConfigMap")
                                .withName("no-controller")
                                .endOwnerReference()
                                .addNewOwnerReference()
                                .withApiVersion(apiVersion)
                                .withKind(kind)
                                .withName(name)
                                .withController(true)
                                .endOwnerReference()
                                .endMetadata()
                                .withSpec(new PodSpec())
                                .build(),
                        false)
                .owner();
    }

    private static Map<String, String> hash(String hash) {
        return Map.of("pod-template-hash", hash);
    }

    @Test
    void podOfADeploymentNamesTheDeployment() {
        assertThat(owner("apps/v1", "ReplicaSet", "llm-server-5d4f8c7b9", hash("5d4f8c7b9")))
                .isEqualTo("Deployment/llm-server");
    }

    @Test
    void otherControllerIsNamedItself() {
        assertThat(owner("batch/v1", "Job", "train-7", Map.of())).isEqualTo("Job/train-7");
        // The end of a CronJob's Job looks like a time, but anybody may name a Job so.
        assertThat(owner("batch/v1", "Job", "nightly-29384760", Map.of())).isEqualTo("Job/nightly-29384760");
    }

    @Test
    void replicaSetOfNoDeploymentIsNamedItself() {
        assertThat(owner("apps/v1", "ReplicaSet", "llm-5d4f8c7b9", Map.of())).isEqualTo("ReplicaSet/llm-5d4f8c7b9");
        assertThat(owner("apps/v1", "ReplicaSet", "llm-5d4f8c7b9", Map.of("rollouts-pod-template-hash", "5d4f8c7b9")))
                .isEqualTo("ReplicaSet/llm-5d4f8c7b9");
    }

    @Test
    void hashThatIsNotTheEndOfTheNameNamesNoDeployment() {
        assertThat(owner("apps/v1", "ReplicaSet", "llm", hash("5d4f8c7b9"))).isEqualTo("ReplicaSet/llm");
        assertThat(owner("apps/v1", "ReplicaSet", "llm-server", hash(""))).isEqualTo("ReplicaSet/llm-server");
        assertThat(owner("apps/v1", "ReplicaSet", "-5d4f8c7b9", hash("5d4f8c7b9")))
                .isEqualTo("ReplicaSet/-5d4f8c7b9");
        assertThat(owner("example.com/v1", "ReplicaSet", "llm-5d4f8c7b9", hash("5d4f8c7b9")))
                .isEqualTo("ReplicaSet/llm-5d4f8c7b9");
    }
}
