package io.gpufleet.testbed.testkit;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The cluster of GPUFLEET_TEST_KUBECONFIG, its one node with a real kubelet, and its tool, GPUFLEET_TEST_CLUSTER. */
public final class RealCluster implements AutoCloseable {
    private static final String GPU = "nvidia.com/gpu";

    private final KubernetesClient client;
    private final String node;

    private RealCluster(KubernetesClient client) {
        this.client = client;
        this.node = client.nodes().list().getItems().stream()
                // Simulated nodes have the label type, those that tests create have no kubelet that says an address.
                .filter(found -> !found.getMetadata().getLabels().containsKey("type"))
                .filter(found -> !found.getStatus().getAddresses().isEmpty())
                .map(found -> found.getMetadata().getName())
                .findFirst()
                .orElseThrow(() -> new AssertionError("the cluster has no node with a real kubelet"));
    }

    /** Connects to the cluster. */
    public static RealCluster open() {
        return new RealCluster(TestKubernetes.client(kubeconfig()));
    }

    /** The file of GPUFLEET_TEST_KUBECONFIG. */
    public static Path kubeconfig() {
        return Path.of(variable("GPUFLEET_TEST_KUBECONFIG"));
    }

    /** The tool of the cluster. */
    public static String executable() {
        return variable("GPUFLEET_TEST_CLUSTER");
    }

    /** Runs the tool of the cluster, for example {@code stop kubelet}; its output. */
    public static String tool(String... arguments) {
        var command = new ArrayList<String>();
        command.add(executable());
        command.addAll(List.of(arguments));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            if (status != 0) {
                throw new AssertionError(command + " exited with status " + status + ": " + output);
            }
            return output;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    private static String variable(String name) {
        return Optional.ofNullable(System.getenv(name))
                .orElseThrow(() -> new AssertionError(name + " is not set; the test needs a real cluster"));
    }

    /** A client with the rights of the kubeconfig. */
    public KubernetesClient client() {
        return client;
    }

    /** Name of the node with the real kubelet. */
    public String nodeName() {
        return node;
    }

    /** The node with the real kubelet. */
    public Node node() {
        return client.nodes().withName(node).get();
    }

    /** Allocatable GPUs; 0 without the resource. */
    public int allocatableGpus() {
        return allocatable(GPU);
    }

    /** Allocatable devices of a resource; 0 without it. */
    public int allocatable(String resource) {
        return count(node().getStatus().getAllocatable(), resource);
    }

    /** All GPUs; 0 without the resource. */
    public int capacityGpus() {
        return count(node().getStatus().getCapacity(), GPU);
    }

    private static int count(Map<String, Quantity> resources, String resource) {
        Quantity found = resources.get(resource);
        return found == null ? 0 : Integer.parseInt(found.getAmount());
    }

    /** Taints of the node. */
    public List<Taint> taints() {
        return node().getSpec().getTaints();
    }

    /** A label of the node; empty when it has none. */
    public String label(String key) {
        return node().getMetadata().getLabels().getOrDefault(key, "");
    }

    /** Stops the kubelet; pods keep running. */
    public void stopKubelet() {
        tool("stop", "kubelet");
    }

    /** Starts what does not run. */
    public void startKubelet() {
        tool("up");
    }

    /**
     * A pod that runs a shell command and requests GPUs, or names no GPU where it requests none: a kubelet whose plugin is gone refuses
     * a limit of zero as well (its device manager asks for the health of the resource before it counts).
     */
    public static Pod pod(String namespace, String name, int gpus, String shellCommand) {
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
                .withCommand("sh", "-c", shellCommand)
                .withNewResources()
                .withLimits(gpus == 0 ? Map.of() : Map.of(GPU, new Quantity(Integer.toString(gpus))))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    /** Creates a pod that requests GPUs and runs a shell command; an older pod of the name is deleted first. */
    public void runPod(String namespace, String name, int gpus, String shellCommand) {
        deletePod(namespace, name);
        client.resource(pod(namespace, name, gpus, shellCommand)).create();
    }

    /** Phase, container id and restarts of a pod: all that would change if a running pod were disturbed. */
    public String podState(String namespace, String name) {
        Pod pod = client.pods().inNamespace(namespace).withName(name).get();
        return pod.getStatus().getPhase()
                + pod.getStatus().getContainerStatuses().stream()
                        .map(container -> " " + container.getContainerID() + " restarts=" + container.getRestartCount())
                        .findFirst()
                        .orElse("");
    }

    /** Output of a pod. */
    public String podLog(String namespace, String name) {
        return client.pods().inNamespace(namespace).withName(name).getLog();
    }

    /** Deletes a pod and returns when it is gone. */
    public void deletePod(String namespace, String name) {
        var pod = client.pods().inNamespace(namespace).withName(name);
        if (pod.get() != null) {
            pod.withGracePeriod(0).delete();
            pod.waitUntilCondition(Objects::isNull, 60, TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
