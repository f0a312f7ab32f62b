package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.CronJobBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Controllers that want a thousand pods of a small quota, on the API server of {@code GPUFLEET_TEST_KUBECONFIG}. */
@NullMarked
class QuotaStormClusterIT {
    private static final int LIMIT = 120;
    private static final int OF_EACH = 100;
    /** What a killed leader may have admitted counts for 70 s. */
    private static final Duration TIMEOUT = Duration.ofSeconds(150);

    private static final Map<String, String> LABELS = Map.of("app", "storm");

    @TempDir
    static Path dir;

    private static QuotaTestEnvironment environment;

    @BeforeAll
    static void open() throws Exception {
        environment = QuotaTestEnvironment.ofRealCluster(dir);
        environment.startStandby();
        environment.startStandby();
    }

    @AfterAll
    static void close() {
        environment.close();
    }

    private static PodTemplateSpec pod(String namespace, String restartPolicy) {
        return new PodTemplateSpecBuilder()
                .withNewMetadata()
                .withLabels(LABELS)
                .endMetadata()
                .withSpec(environment.a100Pod(namespace, "template", 1).getSpec())
                .editSpec()
                .withRestartPolicy(restartPolicy)
                .endSpec()
                .build();
    }

    private static HasMetadata deployment(String namespace, String name) {
        return new DeploymentBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withReplicas(OF_EACH)
                .withNewSelector()
                .withMatchLabels(LABELS)
                .endSelector()
                .withTemplate(pod(namespace, "Always"))
                .endSpec()
                .build();
    }

    private static HasMetadata statefulSet(String namespace, String name) {
        return new StatefulSetBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withReplicas(OF_EACH)
                .withPodManagementPolicy("Parallel")
                .withServiceName(name)
                .withNewSelector()
                .withMatchLabels(LABELS)
                .endSelector()
                .withTemplate(pod(namespace, "Always"))
                .endSpec()
                .build();
    }

    private static HasMetadata job(String namespace, String name) {
        return new JobBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withParallelism(OF_EACH)
                .withCompletions(OF_EACH)
                .withTemplate(pod(namespace, "Never"))
                .endSpec()
                .build();
    }

    private static HasMetadata cronJob(String namespace) {
        return new CronJobBuilder()
                .withNewMetadata()
                .withName("every-minute")
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withSchedule("* * * * *")
                .withConcurrencyPolicy("Forbid")
                .withNewJobTemplate()
                .withNewSpec()
                .withParallelism(OF_EACH)
                .withCompletions(OF_EACH)
                .withTemplate(pod(namespace, "Never"))
                .endSpec()
                .endJobTemplate()
                .endSpec()
                .build();
    }

    private static boolean everyMinuteHasBegun(String namespace) {
        return environment.client().batch().v1().jobs().inNamespace(namespace).list().getItems().stream()
                .anyMatch(job -> job.getMetadata().getName().startsWith("every-minute-"));
    }

    /** A thousand pods, and a hundred more within a minute. */
    private static List<HasMetadata> workloads(String namespace) {
        List<HasMetadata> workloads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            workloads.add(deployment(namespace, "deployment-" + i));
            workloads.add(job(namespace, "job-" + i));
        }
        workloads.add(statefulSet(namespace, "stateful-0"));
        workloads.add(statefulSet(namespace, "stateful-1"));
        workloads.add(cronJob(namespace));
        return workloads;
    }

    private static void createAtOnce(List<HasMetadata> workloads) {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            workloads.forEach(workload ->
                    threads.submit(() -> environment.client().resource(workload).create()));
        }
    }

    @Test
    void thousandWantedPodsAndAKilledLeaderUseTheQuotaExactlyAndLeakNothing() {
        String namespace = environment.namespace();
        environment.awaitServiceAccount(namespace);
        String quota = environment.uniqueName("storm");
        environment.quota(quota, "Enforce", "Deny", Map.of("A100", LIMIT), namespace);
        List<HasMetadata> workloads = workloads(namespace);
        createAtOnce(workloads);
        await().atMost(TIMEOUT).until(() -> environment.gpusIn(namespace) >= LIMIT / 4);
        // When
        environment.killLeader();
        // Then the quota is used up, whoever creates the last pods, and never more
        List<String> names = new ArrayList<>();
        await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(500)).until(() -> {
            assertThat(environment.gpusIn(namespace)).isLessThanOrEqualTo(LIMIT);
            String name = "filler-" + names.size();
            names.add(name);
            environment.create(environment.a100Pod(namespace, name, 1));
            return environment.gpusIn(namespace) == LIMIT && everyMinuteHasBegun(namespace);
        });
        // And what went counts no longer
        workloads.forEach(workload ->
                environment.client().resource(workload).withGracePeriod(0).delete());
        await().atMost(TIMEOUT).pollInterval(Duration.ofSeconds(1)).until(() -> {
            environment
                    .client()
                    .pods()
                    .inNamespace(namespace)
                    .withGracePeriod(0)
                    .delete();
            return environment
                    .create(environment.a100Pod(namespace, "all", LIMIT))
                    .isEmpty();
        });
        assertThat(environment.gpusIn(namespace)).isEqualTo(LIMIT);
    }
}
