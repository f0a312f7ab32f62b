package io.gpufleet.allocation;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Quotas on the API server of {@code GPUFLEET_TEST_KUBECONFIG}; removes what it creates there. */
@NullMarked
class QuotaContractClusterIT extends QuotaContract {
    @TempDir
    static Path dir;

    private static QuotaTestEnvironment environment;

    @BeforeAll
    static void open() throws Exception {
        environment = new QuotaTestEnvironment(
                        Path.of(Objects.requireNonNull(
                                System.getenv("GPUFLEET_TEST_KUBECONFIG"),
                                "GPUFLEET_TEST_KUBECONFIG names no kubeconfig")),
                        dir)
                .awaitReady();
    }

    @AfterAll
    static void close() {
        environment.close();
    }

    @Override
    QuotaTestEnvironment environment() {
        return environment;
    }
}
