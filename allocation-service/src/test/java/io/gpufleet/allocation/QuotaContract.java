package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** What a quota promises, on whatever API server the subclass brings. */
@NullMarked
abstract class QuotaContract {
    abstract QuotaGround ground();

    private List<String> atOnce(List<Callable<String>> creations) throws InterruptedException, ExecutionException {
        List<String> answers = new ArrayList<>();
        try (var threads = Executors.newFixedThreadPool(12)) {
            for (Future<String> answer : threads.invokeAll(creations)) {
                answers.add(answer.get());
            }
        }
        return answers;
    }

    private String enforced(Map<String, Integer> limits) {
        String namespace = ground().namespace();
        ground().usable(namespace);
        ground().quota(ground().unique("quota"), "Enforce", "Deny", limits, namespace);
        return namespace;
    }

    @Test
    void podsWithinTheQuotaAreAdmittedAndTheNextOneIsToldWhyNot() {
        // Given
        String namespace = ground().namespace();
        ground().usable(namespace);
        String quota = ground().unique("team");
        ground().quota(quota, "Enforce", "Deny", Map.of("A100", 3), namespace);
        assertThat(ground().create(ground().a100(namespace, "train-1", 2))).isEmpty();
        // When
        String refusal = ground().create(ground().a100(namespace, "train-2", 2));
        // Then
        assertThat(refusal)
                .contains("GpuQuota " + quota + ": limit 3 A100, used 2 (" + namespace
                        + "/train-1 2), requested 2: 1 would fit now; ask for 1, or have spec.limits of gpuquota/"
                        + quota + " raised");
        assertThat(ground().create(ground().a100(namespace, "train-3", 1))).isEmpty();
        await().atMost(QuotaGround.SOON)
                .until(() -> "A100 3/3".equals(ground().status(quota).get("summary")));
    }

    @Test
    void aDeletedPodGivesItsGpusBack() {
        String namespace = enforced(Map.of("A100", 1));
        assertThat(ground().create(ground().a100(namespace, "one", 1))).isEmpty();
        assertThat(ground().create(ground().a100(namespace, "two", 1))).contains("nothing would fit now");
        // When
        ground().client()
                .pods()
                .inNamespace(namespace)
                .withName("one")
                .withGracePeriod(0)
                .delete();
        // Then
        await().atMost(QuotaGround.SOON)
                .until(() -> ground().create(ground().a100(namespace, "two", 1)).isEmpty());
    }

    @Test
    void twoNamespacesShareOneQuota() {
        String one = ground().namespace();
        String other = ground().namespace();
        ground().usable(one);
        ground().usable(other);
        ground().quota(ground().unique("shared"), "Enforce", "Deny", Map.of("*", 2), one, other);
        assertThat(ground().create(ground().a100(one, "a", 2))).isEmpty();
        assertThat(ground().create(ground().a100(other, "b", 1)))
                .contains("limit 2 GPUs of any model, used 2 (" + one + "/a 2), requested 1");
    }

    @Test
    void creationsAtOnceNeverGoBeyondTheLimit() throws Exception {
        String namespace = enforced(Map.of("A100", 7));
        // When
        List<Callable<String>> creations = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            String name = "pod-" + i;
            creations.add(() -> ground().create(ground().a100(namespace, name, 1)));
        }
        List<String> answers = atOnce(creations);
        // Then
        assertThat(answers.stream().filter(String::isEmpty)).hasSize(7);
        assertThat(ground().gpusIn(namespace)).isEqualTo(7);
    }

    @Test
    void aPodThatCouldRunOnSeveralModelsIsAskedToNameOne() {
        String namespace = enforced(Map.of("A100", 3));
        assertThat(ground().create(ground().pod(namespace, "any", "1", Map.of("gpufleet.io/simulated", "true"))))
                .contains("it could run on A100, H100: name a model: nodeSelector nvidia.com/gpu.product=");
    }

    @Test
    void aWarningQuotaAdmitsAndCountsWhatIsTooMuch() {
        String namespace = ground().namespace();
        ground().usable(namespace);
        String quota = ground().unique("soft");
        ground().quota(quota, "Warn", "Deny", Map.of("A100", 1), namespace);
        assertThat(ground().create(ground().a100(namespace, "two", 2))).isEmpty();
        await().atMost(QuotaGround.SOON)
                .until(() -> "A100 2/1".equals(ground().status(quota).get("summary")));
    }

    @Test
    void aDryRunReservesNothing() {
        String namespace = enforced(Map.of("A100", 1));
        for (int i = 0; i < 3; i++) {
            ground().client()
                    .resource(ground().a100(namespace, "trial", 1))
                    .dryRun()
                    .create();
        }
        assertThat(ground().create(ground().a100(namespace, "real", 1))).isEmpty();
    }

    @Test
    void halfAGpuAndMinusOneAreRefused() {
        String namespace = enforced(Map.of("A100", 1));
        Map<String, String> a100 = Map.of("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB");
        assertThat(ground().create(ground().pod(namespace, "half", "1.5", a100)))
                .contains("nvidia.com/gpu");
        assertThat(ground().create(ground().pod(namespace, "minus", "-1", a100)))
                .contains("nvidia.com/gpu");
        assertThat(ground().gpusIn(namespace)).isZero();
    }

    @Test
    void aReplicaKilledWhileItAnswersNeverMakesTheNextOneAdmitTooMuch() throws Exception {
        String namespace = enforced(Map.of("A100", 10));
        for (int round = 0; round < 2; round++) {
            // When creations are under way
            List<Callable<String>> creations = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                String name = "round-" + round + "-pod-" + i;
                creations.add(() -> ground().create(ground().a100(namespace, name, 1)));
            }
            creations.add(3, () -> {
                ground().killAndRestart();
                return "killed";
            });
            atOnce(creations);
            // Then
            assertThat(ground().gpusIn(namespace)).isLessThanOrEqualTo(10);
        }
    }
}
