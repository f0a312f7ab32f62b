package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Behaviour of quotas, on the API server of a subclass. */
@NullMarked
abstract class QuotaContract {
    abstract QuotaTestEnvironment environment();

    private List<String> concurrently(List<Callable<String>> creations)
            throws InterruptedException, ExecutionException {
        List<String> answers = new ArrayList<>();
        try (var threads = Executors.newFixedThreadPool(12)) {
            for (Future<String> answer : threads.invokeAll(creations)) {
                answers.add(answer.get());
            }
        }
        return answers;
    }

    private String enforced(Map<String, Integer> limits) {
        String namespace = environment().namespace();
        environment().awaitServiceAccount(namespace);
        environment().quota(environment().uniqueName("quota"), "Enforce", "Deny", limits, namespace);
        return namespace;
    }

    @Test
    void podsWithinTheQuotaAreAdmittedAndTheNextOneIsDeniedWithReason() {
        // Given
        String namespace = environment().namespace();
        environment().awaitServiceAccount(namespace);
        String quota = environment().uniqueName("team");
        environment().quota(quota, "Enforce", "Deny", Map.of("A100", 3), namespace);
        assertThat(environment().create(environment().a100Pod(namespace, "train-1", 2)))
                .isEmpty();
        // When
        String denial = environment().create(environment().a100Pod(namespace, "train-2", 2));
        // Then
        assertThat(denial)
                .contains("GpuQuota " + quota + ": limit 3 A100, used 2 (" + namespace
                        + "/train-1 2), requested 2: 1 would fit now; ask for 1, or have spec.limits of gpuquota/"
                        + quota + " raised");
        assertThat(environment().create(environment().a100Pod(namespace, "train-3", 1)))
                .isEmpty();
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> "A100 3/3".equals(environment().status(quota).get("summary")));
    }

    @Test
    void deletedSecretOfTheWebhookIsRestoredAndEveryPodMeanwhileIsAdmitted() {
        // Given
        String namespace = enforced(Map.of("A100", 1));
        Secret before = environment().certificate().get();
        List<String> refusals = new ArrayList<>();
        // When
        environment().certificate().delete();
        await().atMost(QuotaTestEnvironment.TIMEOUT.multipliedBy(2)).until(() -> {
            refusals.add(environment().dryRun(environment().a100Pod(namespace, "train", 1)));
            return environment().certificate().get() != null;
        });
        refusals.add(environment().dryRun(environment().a100Pod(namespace, "train", 1)));
        // Then
        Secret after = environment().certificate().get();
        assertThat(after.getMetadata().getUid())
                .isNotEqualTo(before.getMetadata().getUid());
        assertThat(after.getData()).isEqualTo(before.getData());
        assertThat(refusals).containsOnly("");
    }

    @Test
    void deletedPodReleasesItsGpus() {
        String namespace = enforced(Map.of("A100", 1));
        assertThat(environment().create(environment().a100Pod(namespace, "one", 1)))
                .isEmpty();
        assertThat(environment().create(environment().a100Pod(namespace, "two", 1)))
                .contains("nothing would fit now");
        // When
        environment()
                .client()
                .pods()
                .inNamespace(namespace)
                .withName("one")
                .withGracePeriod(0)
                .delete();
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment()
                        .create(environment().a100Pod(namespace, "two", 1))
                        .isEmpty());
    }

    @Test
    void renamedResourceCountsOnceANodeAnnouncesIt() {
        String renamed = "example.com/a100-whole";
        String namespace = enforced(Map.of("A100", 2));
        // When
        environment().nodes().announceA100As(renamed);
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment()
                        .dryRun(environment().a100Pod(namespace, "three", renamed, 3))
                        .contains("limit 2 A100, used 0, requested 3"));
        assertThat(environment().create(environment().a100Pod(namespace, "two", renamed, 2)))
                .isEmpty();
        assertThat(environment().create(environment().a100Pod(namespace, "one", 1)))
                .contains("limit 2 A100, used 2");
    }

    @Test
    void migDevicesCountAsPartsOfAGpuAndAsDevices() {
        String slice = "nvidia.com/mig-1g.5gb";
        String namespace = environment().namespace();
        environment().awaitServiceAccount(namespace);
        String quota = environment().uniqueName("slices");
        environment().nodes().announceSlices("1g.5gb", 7);
        // When
        environment()
                .quota(
                        quota,
                        Map.of(
                                "limits",
                                List.of(
                                        Map.of("model", "a100", "gpus", 1),
                                        Map.of("migProfile", "1g.5gb", "devices", 6)),
                                "others",
                                0),
                        namespace);
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment()
                        .dryRun(environment().a100Pod(namespace, "seven", slice, 7))
                        .contains("limit 6 migProfile=1g.5gb devices, used 0, requested 7"));
        assertThat(environment().create(environment().a100Pod(namespace, "six", slice, 6)))
                .isEmpty();
        assertThat(environment().create(environment().a100Pod(namespace, "whole", 1)))
                .contains("limit 1 a100, used 6/7 (" + namespace + "/six 6/7), requested 1");
        Map<String, String> h100 = Map.of("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3");
        assertThat(environment().create(environment().pod(namespace, "other", "1", h100)))
                .contains("limit 0 GPUs that no other limit names");
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> "a100 0.86/1, migProfile=1g.5gb devices 6/6, others 0/0"
                        .equals(environment().status(quota).get("summary")));
        assertThat(environment().status(quota).get("used")).asString().contains("exact=6/7");
    }

    @Test
    void twoNamespacesShareOneQuota() {
        String one = environment().namespace();
        String other = environment().namespace();
        environment().awaitServiceAccount(one);
        environment().awaitServiceAccount(other);
        environment().quota(environment().uniqueName("shared"), "Enforce", "Deny", Map.of("*", 2), one, other);
        assertThat(environment().create(environment().a100Pod(one, "a", 2))).isEmpty();
        assertThat(environment().create(environment().a100Pod(other, "b", 1)))
                .contains("limit 2 GPUs of any model, used 2 (1 pod), requested 1");
    }

    @Test
    void concurrentCreationsNeverExceedTheLimit() throws Exception {
        String namespace = enforced(Map.of("A100", 7));
        // When
        List<Callable<String>> creations = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            String name = "pod-" + i;
            creations.add(() -> environment().create(environment().a100Pod(namespace, name, 1)));
        }
        List<String> answers = concurrently(creations);
        // Then
        assertThat(answers.stream().filter(String::isEmpty)).hasSize(7);
        assertThat(environment().gpusIn(namespace)).isEqualTo(7);
    }

    @Test
    void podOfSeveralModelsIsDeniedWithRequestForModel() {
        environment().nodes().announceA100As("nvidia.com/gpu");
        String namespace = enforced(Map.of("A100", 3));
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment()
                        .dryRun(environment().pod(namespace, "any", "1", Map.of("gpufleet.io/simulated", "true")))
                        .contains("it could run on A100, H100: name a model: nodeSelector nvidia.com/gpu.product="));
    }

    @Test
    void warningQuotaAdmitsAndCountsPodsBeyondTheLimit() {
        String namespace = environment().namespace();
        environment().awaitServiceAccount(namespace);
        String quota = environment().uniqueName("soft");
        environment().quota(quota, "Warn", "Deny", Map.of("A100", 1), namespace);
        assertThat(environment().create(environment().a100Pod(namespace, "two", 2)))
                .isEmpty();
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> "A100 2/1".equals(environment().status(quota).get("summary")));
    }

    @Test
    void dryRunReservesNothing() {
        String namespace = enforced(Map.of("A100", 1));
        for (int i = 0; i < 3; i++) {
            environment()
                    .client()
                    .resource(environment().a100Pod(namespace, "trial", 1))
                    .dryRun()
                    .create();
        }
        assertThat(environment().create(environment().a100Pod(namespace, "real", 1)))
                .isEmpty();
    }

    @Test
    void forgedReviewReservesNothing() throws Exception {
        String namespace = enforced(Map.of("A100", 9));
        // When
        int status = ForgedReview.send(environment().webhook(), namespace, 9);
        // Then
        assertThat(environment().create(environment().a100Pod(namespace, "real", 9)))
                .isEmpty();
        assertThat(status).isEqualTo(403);
    }

    @Test
    void fractionalAndNegativeRequestsAreDenied() {
        String namespace = enforced(Map.of("A100", 1));
        Map<String, String> a100 = Map.of("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB");
        assertThat(environment().create(environment().pod(namespace, "half", "1.5", a100)))
                .contains("nvidia.com/gpu");
        assertThat(environment().create(environment().pod(namespace, "minus", "-1", a100)))
                .contains("nvidia.com/gpu");
        assertThat(environment().gpusIn(namespace)).isZero();
    }

    @Test
    void successorOfKilledReplicaNeverAdmitsBeyondTheLimit() throws Exception {
        String namespace = enforced(Map.of("A100", 10));
        for (int round = 0; round < 2; round++) {
            // When creations are under way
            List<Callable<String>> creations = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                String name = "round-" + round + "-pod-" + i;
                creations.add(() -> environment().create(environment().a100Pod(namespace, name, 1)));
            }
            creations.add(3, () -> {
                environment().killAndRestart();
                return "killed";
            });
            concurrently(creations);
            // Then
            assertThat(environment().gpusIn(namespace)).isLessThanOrEqualTo(10);
        }
    }
}
