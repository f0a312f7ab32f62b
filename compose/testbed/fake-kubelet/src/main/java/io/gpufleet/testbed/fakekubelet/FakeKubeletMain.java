package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.lifecycle.Program;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.VertxInstance;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;

/** Fake kubelets of several nodes on one Kubernetes API. */
public final class FakeKubeletMain {
    private static final String KUBELETS = "GPUFLEET_FAKE_KUBELETS";
    private static final String HTTP_HOST = "GPUFLEET_HTTP_HOST";
    private static final String HTTP_PORT = "GPUFLEET_HTTP_PORT";
    private static final String BOOT_ID_FILE = "GPUFLEET_BOOT_ID_FILE";

    static final List<Setting> SETTINGS = List.of(
            Setting.required(KUBELETS, "comma list of <node>=<directory>: the simulated nodes"),
            Setting.optional(HTTP_HOST, "127.0.0.1", "address of /livez, /readyz and /metrics"),
            Setting.optional(HTTP_PORT, "0", "port of the same; 0 takes a free one"),
            Setting.optional(
                    BOOT_ID_FILE,
                    "/proc/sys/kernel/random/boot_id",
                    "boot id in the status of the Nodes; the daemon on the node reads the same file"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO, DEBUG or TRACE"));

    private FakeKubeletMain() {}

    /** Runs until SIGTERM; the cluster is that of KUBECONFIG. */
    public static void main(String[] arguments) {
        Program.run("fake-kubelet", arguments, System.getenv(), SETTINGS, FakeKubeletMain::start);
    }

    private static void start(Environment environment, Shutdown shutdown) throws IOException {
        List<KubeletSpec> specs = KubeletSpec.parse(KUBELETS, environment.text(KUBELETS));
        String bootId = Files.readString(environment.path(BOOT_ID_FILE)).strip();
        var vertx = VertxInstance.open();
        shutdown.add("vertx", () -> UnixSocketServer.await(vertx.close()));
        Config config = Config.autoConfigure(null);
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        KubernetesClient client = shutdown.add(
                "client", new KubernetesClientBuilder().withConfig(config).build());
        var keepers = new ArrayList<NodeStatusUpdater>();
        try {
            for (KubeletSpec spec : specs) {
                FakeKubelet kubelet =
                        shutdown.add("kubelet " + spec.node(), FakeKubelet.start(vertx, spec.directory()));
                var keeper = new NodeStatusUpdater(client, spec.node(), bootId, kubelet, Clock.systemUTC());
                keeper.start();
                keepers.add(shutdown.add("node " + spec.node(), keeper));
                var runner = new PodRunner(client, spec.node(), kubelet, Clock.systemUTC());
                runner.start();
                shutdown.add("pods of " + spec.node(), runner);
            }
        } catch (KubernetesClientException refused) {
            throw new ConfigurationException("the Kubernetes API at "
                    + client.getConfiguration().getMasterUrl() + " rejects the simulated nodes: "
                    + refused.getMessage() + "; check KUBECONFIG");
        }
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, List::of, () -> readinessFailures(keepers), () -> "");
        shutdown.add(
                "http",
                BoundHttpServer.open(
                        vertx,
                        router,
                        environment.text(HTTP_HOST),
                        environment.integer(HTTP_PORT, 0, 65535),
                        HTTP_PORT));
    }

    private static List<String> readinessFailures(List<NodeStatusUpdater> keepers) {
        long missing =
                keepers.stream().filter(keeper -> !keeper.statusWritten()).count();
        return missing == 0 ? List.of() : List.of(missing + " of " + keepers.size() + " Nodes are not created yet");
    }
}
