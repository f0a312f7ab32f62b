package io.gpufleet.compose.kubelet;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;

/** A kubelet with its Node, its pods and a plugin beside it. */
record PlayedNode(
        Vertx vertx,
        KubernetesClient client,
        StandInKubelet kubelet,
        SmallPlugin plugin,
        NodeKeeper keeper,
        PodRunner runner)
        implements AutoCloseable {
    static PlayedNode start(Path kubeconfig, Path directory) throws IOException {
        Vertx vertx = Vertx.vertx();
        Config config = Config.fromKubeconfig(kubeconfig.toFile());
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        KubernetesClient client =
                new KubernetesClientBuilder().withConfig(config).build();
        StandInKubelet kubelet = StandInKubelet.start(vertx, directory);
        var plugin = new SmallPlugin(vertx, kubelet.devicePluginDirectory(), "a", "b", "c");
        var keeper = new NodeKeeper(client, NodeContract.NODE, "boot", kubelet, Clock.systemUTC());
        keeper.start();
        var runner = new PodRunner(client, NodeContract.NODE, kubelet, Clock.systemUTC());
        runner.start();
        return new PlayedNode(vertx, client, kubelet, plugin, keeper, runner);
    }

    @Override
    public void close() throws IOException {
        runner.close();
        keeper.close();
        kubelet.close();
        plugin.close();
        client.close();
        UnixServer.await(vertx.close());
    }
}
