package io.gpufleet.allocation;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** On the API server of {@code GPUFLEET_TEST_KUBECONFIG}; what is made there is removed. */
@NullMarked
class QuotaContractClusterIT extends QuotaContract {
    @TempDir
    static Path dir;

    private static QuotaGround ground;

    @BeforeAll
    static void open() throws Exception {
        ground = new QuotaGround(
                        Path.of(Objects.requireNonNull(
                                System.getenv("GPUFLEET_TEST_KUBECONFIG"),
                                "GPUFLEET_TEST_KUBECONFIG names no kubeconfig")),
                        dir)
                .ready();
    }

    @AfterAll
    static void close() {
        ground.close();
    }

    @Override
    QuotaGround ground() {
        return ground;
    }
}
