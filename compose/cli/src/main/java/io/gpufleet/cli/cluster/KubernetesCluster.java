package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The cluster of a kubeconfig file. Every method blocks. */
public final class KubernetesCluster implements AutoCloseable {
    private static final String SIMULATED = "gpufleet.io/simulated";
    private static final String PRODUCT = "nvidia.com/gpu.product";
    private static final String PART_OF = "app.kubernetes.io/part-of";
    private static final int NOT_FOUND = 404;

    private final KubernetesClient client;
    private final Path kubeconfig;

    private KubernetesCluster(KubernetesClient client, Path kubeconfig) {
        this.client = client;
        this.kubeconfig = kubeconfig;
    }

    /** Reads the file; the API is not called yet. */
    public static KubernetesCluster of(Path kubeconfig) {
        if (!Files.isReadable(kubeconfig)) {
            throw new ConfigurationException("kubeconfig '" + kubeconfig + "' cannot be read; name another file with"
                    + " --kubeconfig, or omit it to use the fake API server");
        }
        try {
            Config config = Config.fromKubeconfig(kubeconfig.toFile());
            config.setRequestRetryBackoffLimit(0);
            config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
            return new KubernetesCluster(
                    new KubernetesClientBuilder().withConfig(config).build(), kubeconfig);
        } catch (KubernetesClientException | IllegalArgumentException wrong) {
            throw new ConfigurationException("'" + kubeconfig + "' is no kubeconfig: "
                    + String.valueOf(wrong.getMessage()).lines().findFirst().orElse("it cannot be parsed")
                    + "; name another file with --kubeconfig");
        }
    }

    /** The cluster of the pod that this process runs in, by its service account. */
    public static KubernetesCluster ofPod() {
        Config config = Config.autoConfigure(null);
        return new KubernetesCluster(
                new KubernetesClientBuilder().withConfig(config).build(), Path.of("service account of the pod"));
    }

    /** The client. */
    public KubernetesClient client() {
        return client;
    }

    /** Address of the API. */
    public String url() {
        return client.getConfiguration().getMasterUrl();
    }

    /**
     * Fails in a cluster in which gpufleet is installed: two of them would overwrite each other's node patches and
     * webhook.
     */
    public void requireNotInstalled() {
        client.admissionRegistration().v1().validatingWebhookConfigurations().list().getItems().stream()
                .filter(configuration ->
                        "gpufleet".equals(labels(configuration.getMetadata()).get(PART_OF)))
                .filter(configuration -> configuration.getWebhooks().stream()
                        .anyMatch(webhook -> webhook.getClientConfig().getService() != null))
                .findFirst()
                .ifPresent(configuration -> {
                    throw new ConfigurationException("gpufleet is installed in the cluster at " + url()
                            + " (webhook configuration "
                            + configuration.getMetadata().getName()
                            + "); use another cluster or the fake API server");
                });
    }

    /** Creates a namespace unless it is there. */
    public void ensureNamespace(String name) {
        if (client.namespaces().withName(name).get() == null) {
            client.namespaces()
                    .resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .build())
                    .create();
        }
    }

    /** Deletes a namespace with its objects. */
    public void removeNamespace(String name) {
        client.namespaces().withName(name).delete();
    }

    /** One call, so that a wrong address or a refused certificate is reported before anything starts. */
    public void requireReachable() {
        try {
            client.nodes().list();
        } catch (KubernetesClientException refused) {
            throw new ConfigurationException("the Kubernetes API at " + url() + " (kubeconfig '" + kubeconfig
                    + "') does not answer as expected: " + ApiErrorMessage.of(refused));
        }
    }

    /** The address under which the API server reaches programs on this machine. */
    public String addressOfThisMachine() {
        try (var socket = new java.net.DatagramSocket()) {
            InetAddress server = InetAddress.getByName(URI.create(url()).getHost());
            if (server.isLoopbackAddress()) {
                return "127.0.0.1";
            }
            // Connecting a datagram socket sends nothing; the system chooses the route.
            socket.connect(server, 9);
            return socket.getLocalAddress().getHostAddress();
        } catch (IOException unknown) {
            return "127.0.0.1";
        }
    }

    /** Creates or updates all objects of the YAML files of a directory; returns their names. */
    public List<String> applyFiles(Path directory) {
        var names = new TreeSet<String>();
        for (Path file : yamlFiles(directory)) {
            try (InputStream in = new FileInputStream(file.toFile())) {
                for (var item : client.load(in).items()) {
                    var found = client.resource(item).get();
                    if (found == null) {
                        client.resource(item).create();
                    } else {
                        item.getMetadata()
                                .setResourceVersion(found.getMetadata().getResourceVersion());
                        client.resource(item).update();
                    }
                    names.add(item.getMetadata().getName());
                }
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            } catch (KubernetesClientException refused) {
                throw new ConfigurationException(
                        "the Kubernetes API at " + url() + " refuses " + file + ": " + ApiErrorMessage.of(refused));
            }
        }
        return List.copyOf(names);
    }

    /** Deletes simulated nodes and their pods at once; a Node without the label stays. */
    public void removeSimulatedNodes(List<String> names) {
        for (String name : names) {
            Node node = client.nodes().withName(name).get();
            if (node == null || !"true".equals(labels(node.getMetadata()).get(SIMULATED))) {
                continue;
            }
            client.nodes().withName(name).delete();
            client.pods().inAnyNamespace().withField("spec.nodeName", name).list().getItems().stream()
                    .forEach(pod -> client.pods()
                            .inNamespace(pod.getMetadata().getNamespace())
                            .withName(pod.getMetadata().getName())
                            .withGracePeriod(0)
                            .delete());
        }
    }

    /** Deletes webhook configurations that call one of our addresses, where nothing listens any more. */
    public List<String> removeWebhooks(List<String> urls) {
        return client.admissionRegistration().v1().validatingWebhookConfigurations().list().getItems().stream()
                .filter(configuration -> configuration.getWebhooks().stream()
                        .map(webhook -> Optional.ofNullable(
                                        webhook.getClientConfig().getUrl())
                                .orElse(""))
                        .anyMatch(url -> urls.stream().anyMatch(url::startsWith)))
                .map(configuration -> configuration.getMetadata().getName())
                .peek(name -> client.admissionRegistration()
                        .v1()
                        .validatingWebhookConfigurations()
                        .withName(name)
                        .delete())
                .toList();
    }

    /** The product name in the cluster for a short model name; none and several are errors. */
    public String product(String model) {
        return GpuProducts.match(
                model,
                client.nodes().list().getItems().stream()
                        .flatMap(node ->
                                Stream.ofNullable(labels(node.getMetadata()).get(PRODUCT)))
                        .distinct()
                        .toList());
    }

    /** Creates a pod that requests GPUs; the exception of a refused one has the message of the API server. */
    public void createPod(PodRequest wish) {
        ensureNamespace(wish.namespace());
        try {
            client.pods().inNamespace(wish.namespace()).resource(wish.pod()).create();
        } catch (KubernetesClientException refused) {
            throw new ConfigurationException(
                    "pod " + wish.namespace() + "/" + wish.name() + " was refused: " + ApiErrorMessage.of(refused));
        }
    }

    /** Deletes a pod; false when there is none. */
    public boolean deletePod(String namespace, String name) {
        try {
            return !client.pods().inNamespace(namespace).withName(name).delete().isEmpty();
        } catch (KubernetesClientException refused) {
            if (refused.getCode() == NOT_FOUND) {
                return false;
            }
            throw refused;
        }
    }

    @Override
    public void close() {
        client.close();
    }

    private static Map<String, String> labels(ObjectMeta metadata) {
        return metadata.getLabels() == null ? Map.of() : metadata.getLabels();
    }

    private static List<Path> yamlFiles(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .filter(file -> !file.getFileName().toString().equals("kustomization.yaml"))
                    .sorted()
                    .toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
