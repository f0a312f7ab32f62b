package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;

/** A fake kubelet with its Node, its pods and a plugin. */
record TestNode(
        Vertx vertx,
        KubernetesClient client,
        FakeKubelet kubelet,
        TestDevicePlugin plugin,
        NodeStatusUpdater statusUpdater,
        PodRunner runner)
        implements AutoCloseable {
    static TestNode start(Path kubeconfig, Path directory) throws IOException {
        Vertx vertx = Vertx.vertx();
        KubernetesClient client = TestKubernetes.client(kubeconfig);
        FakeKubelet kubelet = FakeKubelet.start(vertx, directory);
        var plugin = new TestDevicePlugin(vertx, kubelet.devicePluginDirectory(), "a", "b", "c");
        var keeper = new NodeStatusUpdater(client, NodeContract.NODE, "boot", kubelet, Clock.systemUTC());
        keeper.start();
        var runner = new PodRunner(client, NodeContract.NODE, kubelet, Clock.systemUTC());
        runner.start();
        return new TestNode(vertx, client, kubelet, plugin, keeper, runner);
    }

    @Override
    public void close() throws IOException {
        runner.close();
        statusUpdater.close();
        kubelet.close();
        plugin.close();
        client.close();
        UnixSocketServer.await(vertx.close());
    }
}
