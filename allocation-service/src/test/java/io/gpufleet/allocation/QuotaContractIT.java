package io.gpufleet.allocation;

import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
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
}
