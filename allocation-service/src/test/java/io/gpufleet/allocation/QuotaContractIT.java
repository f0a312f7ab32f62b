package io.gpufleet.allocation;

import io.gpufleet.compose.kubeapi.KubeApi;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** On the stand-in API. */
@NullMarked
class QuotaContractIT extends QuotaContract {
    @TempDir
    static Path dir;

    private static KubeApi api;
    private static QuotaGround ground;

    @BeforeAll
    static void open() throws Exception {
        api = KubeApi.start("127.0.0.1", 0);
        ground = new QuotaGround(api.kubeconfig(dir.resolve("kubeconfig")), dir).ready();
    }

    @AfterAll
    static void close() {
        ground.close();
        api.close();
    }

    @Override
    QuotaGround ground() {
        return ground;
    }
}
