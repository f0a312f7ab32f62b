package io.gpufleet.compose.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import java.io.File;
import java.util.Map;
import java.util.Optional;

/** The cluster that {@code GPUFLEET_TEST_KUBECONFIG} names, and the one real kubelet in it. */
final class RealCluster implements AutoCloseable {
    static final String GPU = "nvidia.com/gpu";

    private final String kubeconfig;
    private final KubernetesClient client;
    private final String node;

    private RealCluster(String kubeconfig) {
        this.kubeconfig = kubeconfig;
        this.client =
                new KubernetesClientBuilder().withConfig(config(kubeconfig)).build();
        this.node = client.nodes().list().getItems().stream()
                .filter(found -> !found.getMetadata().getLabels().containsKey("type"))
                .map(found -> found.getMetadata().getName())
                .findFirst()
                .orElseThrow(() -> new AssertionError("the cluster has no node with a real kubelet"));
    }

    private static Config config(String kubeconfig) {
        Config config = Config.fromKubeconfig(new File(kubeconfig));
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        return config;
    }

    static RealCluster open() {
        return new RealCluster(Optional.ofNullable(System.getenv("GPUFLEET_TEST_KUBECONFIG"))
                .orElseThrow(() -> new AssertionError("GPUFLEET_TEST_KUBECONFIG names no kubeconfig")));
    }

    String kubeconfig() {
        return kubeconfig;
    }

    KubernetesClient client() {
        return client;
    }

    String nodeName() {
        return node;
    }

    Node node() {
        return client.nodes().withName(node).get();
    }

    /** Allocatable GPUs of the real node; 0 when the resource is not there. */
    int allocatable() {
        return number(node().getStatus().getAllocatable());
    }

    /** GPUs that the real node has in all; 0 when the resource is not there. */
    int capacity() {
        return number(node().getStatus().getCapacity());
    }

    boolean tainted() {
        return node().getSpec().getTaints().stream()
                .anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
    }

    String label(String key) {
        return node().getMetadata().getLabels().getOrDefault(key, "");
    }

    /** A pod that asks for GPUs and prints what it was given. */
    Pod podThatPrintsItsDevices(String namespace, String name, int gpus) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .withTerminationGracePeriodSeconds(0L)
                .addNewContainer()
                .withName("main")
                .withImage("testbed/busybox:1")
                .withImagePullPolicy("IfNotPresent")
                .withCommand("sh", "-c", "echo devices=$NVIDIA_VISIBLE_DEVICES")
                .withNewResources()
                .withLimits(Map.of(GPU, new Quantity(Integer.toString(gpus))))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    /** Runs the tool that owns the cluster, for example to restart its kubelet. */
    void tool(String... arguments) throws Exception {
        var command = new java.util.ArrayList<String>();
        command.add(Optional.ofNullable(System.getenv("GPUFLEET_TEST_CLUSTER"))
                .orElseThrow(
                        () -> new AssertionError("GPUFLEET_TEST_CLUSTER names no tool to restart the kubelet with")));
        command.addAll(java.util.List.of(arguments));
        int exit = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (exit != 0) {
            throw new AssertionError(command + " ended with " + exit);
        }
    }

    private static int number(Map<String, Quantity> resources) {
        Quantity found = resources.get(GPU);
        return found == null ? 0 : Integer.parseInt(found.getAmount());
    }

    @Override
    public void close() {
        client.close();
    }
}
