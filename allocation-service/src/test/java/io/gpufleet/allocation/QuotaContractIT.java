package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Quotas on the fake API server. */
@NullMarked
class QuotaContractIT extends QuotaContract {
    @TempDir
    static Path dir;

    private static FakeApiServer api;
    private static QuotaTestEnvironment environment;

    @BeforeAll
    static void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        environment = new QuotaTestEnvironment(api.kubeconfig(dir.resolve("kubeconfig")), dir).awaitReady();
    }

    @AfterAll
    static void close() {
        environment.close();
        api.close();
    }

    @Override
    QuotaTestEnvironment environment() {
        return environment;
    }

    private static String ready(String quota) {
        return environment.status(quota).get("conditions") instanceof List<?> conditions
                ? conditions.stream()
                        .map(condition -> (Map<?, ?>) condition)
                        .filter(condition -> "Ready".equals(condition.get("type")))
                        .map(condition -> condition.get("status") + " " + condition.get("message"))
                        .collect(Collectors.joining())
                : "";
    }

    /** Here only: a real API server accepts no such specification while our schema is applied. */
    @Test
    void quotaThatCanNoLongerBeReadKeepsItsLimitsAndSaysSo() {
        String namespace = environment.namespace();
        String quota = environment.uniqueName("unreadable");
        environment.quota(quota, "Enforce", "Deny", Map.of("A100", 2), namespace);
        assertThat(environment.create(environment.a100Pod(namespace, "before", 1)))
                .isEmpty();
        // When
        environment.replaceLimits(quota, "[{\"model\": \"A100\"}]");
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(() -> assertThat(ready(quota))
                        .startsWith("False")
                        .contains("limit A100 needs gpus, devices or both"));
        assertThat(environment.create(environment.a100Pod(namespace, "beyond", 2)))
                .contains(quota);
        assertThat(environment.create(environment.a100Pod(namespace, "within", 1)))
                .isEmpty();
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(() -> assertThat(environment.status(quota).get("used"))
                        .asString()
                        .contains("amount=2"));
        assertThat(ready(quota)).startsWith("False");
        // When
        environment.replaceLimits(quota, "[{\"model\": \"A100\", \"gpus\": 3}]");
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(() -> assertThat(ready(quota)).startsWith("True"));
        assertThat(environment.create(environment.a100Pod(namespace, "after", 1)))
                .isEmpty();
    }
}
