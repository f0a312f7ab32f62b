package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Quotas of a running service whose Kafka is stopped and comes back. */
@NullMarked
class QuotaBrokerOutageIT {
    private static final String NOT_ACTED_UPON = "nothing is acted upon";

    @TempDir
    private Path dir;

    private FakeApiServer api;
    private QuotaTestEnvironment environment;

    @BeforeEach
    void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        environment = new QuotaTestEnvironment(api.kubeconfig(dir.resolve("kubeconfig")), dir).awaitReady();
    }

    @AfterEach
    void close() {
        environment.close();
        api.close();
    }

    private String readiness() {
        return environment.service().get("/readyz").body();
    }

    private String create(String namespace, String pod, int gpus) {
        return environment.create(environment.a100Pod(namespace, pod, gpus));
    }

    /** Limits the A100 GPUs of a namespace; the name of the quota. */
    private String enforce(String namespace, int gpus) {
        environment.awaitServiceAccount(namespace);
        String quota = environment.uniqueName("outage");
        environment.quota(quota, "Enforce", "Deny", Map.of("A100", gpus), namespace);
        return quota;
    }

    private String leader(String quota) {
        return String.valueOf(environment.status(quota).get("leader"));
    }

    @Test
    void sameLeaderDecidesWithoutKafkaAndTheServiceIsReadyAgainWithIt() {
        // Given
        String namespace = environment.namespace();
        String quota = enforce(namespace, 3);
        assertThat(create(namespace, "before", 1)).isEmpty();
        String leader = leader(quota);
        assertThat(leader).startsWith(environment.leaseHolder() + "@");
        // When
        environment.broker().stop();
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> readiness().contains(NOT_ACTED_UPON));
        // Then
        assertThat(environment.service().get("/readyz").status()).isEqualTo(503);
        // The kubelet asks this: a replica that it takes for unready gets no reviews, so pods would be refused
        assertThat(environment.service().get("/readyz/admission").status()).isEqualTo(200);
        assertThat(environment.service().get("/livez").status()).isEqualTo(200);
        assertThat(create(namespace, "without-kafka", 2)).isEmpty();
        assertThat(create(namespace, "too-many", 1)).contains("limit 3 A100, used 3");
        assertThat(leader(quota)).isEqualTo(leader);
        assertThat(environment.service().hasMetric("gpufleet_quota_leader 1.0")).isTrue();
        // When
        environment.broker().restart();
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment.service().isReady());
        assertThat(create(namespace, "still-too-many", 1)).contains("limit 3 A100, used 3");
        assertThat(leader(quota)).isEqualTo(leader);
        assertThat(environment.gpusIn(namespace)).isEqualTo(3);
    }

    @Test
    void standbyTakesOverWithoutKafkaAndAdmitsWhatTheEscrowLeaves() {
        // Given
        String namespace = environment.namespace();
        String quota = enforce(namespace, 200);
        assertThat(create(namespace, "before", 2)).isEmpty();
        String leader = leader(quota);
        environment.startStandby();
        environment.awaitStandbys();
        environment.broker().stop();
        await().atMost(QuotaTestEnvironment.TIMEOUT).until(() -> readiness().contains(NOT_ACTED_UPON));
        // When
        environment.killLeader();
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> create(namespace, "without-kafka", 8).isEmpty());
        assertThat(leader(quota)).isNotEqualTo(leader);
        assertThat(create(namespace, "too-many", 199)).contains("limit 200 A100, used ");
        assertThat(environment.gpusIn(namespace)).isEqualTo(10);
        environment.broker().restart();
    }

    @Test
    void replicaThatStartsWithoutKafkaIsSentReviewsAndDecides() {
        // Given
        String namespace = environment.namespace();
        enforce(namespace, 200);
        assertThat(create(namespace, "before", 2)).isEmpty();
        environment.broker().stop();
        // When
        environment.killAndRestartWithoutKafka();
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(
                        () -> assertThat(create(namespace, "without-kafka", 8)).isEmpty());
        assertThat(create(namespace, "too-many", 199)).contains("limit 200 A100, used ");
        assertThat(environment.service().get("/readyz").status()).isEqualTo(503);
        environment.broker().restart();
    }
}
