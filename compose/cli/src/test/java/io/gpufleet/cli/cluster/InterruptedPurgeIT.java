package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.fakeapiserver.FakeApiServer;
import io.gpufleet.testbed.testkit.TestKubernetes;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the fake API server. */
class InterruptedPurgeIT implements InterruptedPurgeContract {
    @TempDir
    private static Path directory;

    private static FakeApiServer api;
    private static KubernetesClient client;

    @BeforeAll
    static void open() throws Exception {
        api = FakeApiServer.start("127.0.0.1", 0);
        client = TestKubernetes.client(api.kubeconfig(directory.resolve("kubeconfig")));
    }

    @AfterAll
    static void close() {
        client.close();
        api.close();
    }

    @Override
    public KubernetesClient client() {
        return client;
    }
}
