package io.gpufleet.nodedaemon;

import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The one real kubelet of the cluster that GPUFLEET_TEST_KUBECONFIG names, as the API server and its owner see it. */
final class RealKubelet implements AutoCloseable {
    private static final String GPU = "nvidia.com/gpu";

    private final KubernetesClient client;
    private final String node;

    private RealKubelet(KubernetesClient client) {
        this.client = client;
        this.node = client.nodes().list().getItems().stream()
                .filter(found -> !found.getMetadata().getLabels().containsKey("type"))
                .map(found -> found.getMetadata().getName())
                .findFirst()
                .orElseThrow(() -> new AssertionError("the cluster has no node with a real kubelet"));
    }

    static RealKubelet open() {
        String kubeconfig = variable("GPUFLEET_TEST_KUBECONFIG");
        Config config = Config.fromKubeconfig(new File(kubeconfig));
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        return new RealKubelet(new KubernetesClientBuilder().withConfig(config).build());
    }

    private static String variable(String name) {
        return Optional.ofNullable(System.getenv(name))
                .orElseThrow(() -> new AssertionError(name + " is not set: the test wants a real cluster"));
    }

    String node() {
        return node;
    }

    /** GPUs of the Node that may be handed out, of those that it has, for example {@code 7 of 8}. */
    String gpus() {
        NodeStatus status = client.nodes().withName(node).get().getStatus();
        return number(status.getAllocatable()) + " of " + number(status.getCapacity());
    }

    private static String number(Map<String, Quantity> resources) {
        Quantity found = resources.get(GPU);
        return found == null ? "0" : found.getAmount();
    }

    void stop() throws Exception {
        tool("stop", "kubelet");
    }

    void start() throws Exception {
        tool("up");
    }

    private static void tool(String... arguments) throws Exception {
        var command = new ArrayList<String>();
        command.add(variable("GPUFLEET_TEST_CLUSTER"));
        command.addAll(List.of(arguments));
        int exit = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (exit != 0) {
            throw new AssertionError(command + " ended with " + exit);
        }
    }

    /** Creates a pod that asks for GPUs and runs a shell line; an older one of the name is removed first. */
    void run(String name, int gpus, String line) {
        remove(name);
        client.resource(new PodBuilder()
                        .withNewMetadata()
                        .withNamespace("default")
                        .withName(name)
                        .endMetadata()
                        .withNewSpec()
                        .withRestartPolicy("Never")
                        .withTerminationGracePeriodSeconds(0L)
                        .addNewContainer()
                        .withName("main")
                        .withImage("testbed/busybox:1")
                        .withImagePullPolicy("IfNotPresent")
                        .withCommand("sh", "-c", line)
                        .withNewResources()
                        .withLimits(Map.of(GPU, new Quantity(Integer.toString(gpus))))
                        .endResources()
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    /** Phase, container id and restarts: what would change if a running pod noticed anything. */
    String state(String name) {
        Pod pod = client.pods().inNamespace("default").withName(name).get();
        return pod.getStatus().getPhase()
                + pod.getStatus().getContainerStatuses().stream()
                        .map(container -> " " + container.getContainerID() + " restarts=" + container.getRestartCount())
                        .findFirst()
                        .orElse("");
    }

    String log(String name) {
        return client.pods().inNamespace("default").withName(name).getLog();
    }

    void remove(String name) {
        var pod = client.pods().inNamespace("default").withName(name);
        if (pod.get() != null) {
            pod.withGracePeriod(0).delete();
            pod.waitUntilCondition(java.util.Objects::isNull, 60, java.util.concurrent.TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
