package io.gpufleet.compose.cluster;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
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

/** The cluster behind one kubeconfig file. Every method blocks. */
public final class Cluster implements AutoCloseable {
    private static final String SIMULATED = "gpufleet.io/simulated";
    private static final String PRODUCT = "nvidia.com/gpu.product";
    private static final String PART_OF = "app.kubernetes.io/part-of";
    private static final int NOT_FOUND = 404;

    private final KubernetesClient client;
    private final Path kubeconfig;

    private Cluster(KubernetesClient client, Path kubeconfig) {
        this.client = client;
        this.kubeconfig = kubeconfig;
    }

    /** Reads the file; the API is not called yet. */
    public static Cluster of(Path kubeconfig) {
        if (!Files.isReadable(kubeconfig)) {
            throw new ConfigurationException("kubeconfig '" + kubeconfig + "' can not be read; name another file by"
                    + " --kubeconfig, or leave it out to use the stand-in");
        }
        try {
            Config config = Config.fromKubeconfig(kubeconfig.toFile());
            config.setRequestRetryBackoffLimit(0);
            config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
            return new Cluster(new KubernetesClientBuilder().withConfig(config).build(), kubeconfig);
        } catch (KubernetesClientException | IllegalArgumentException wrong) {
            throw new ConfigurationException("kubeconfig '" + kubeconfig + "' is not usable: " + wrong.getMessage());
        }
    }

    /** The client itself, for what only one caller needs. */
    public KubernetesClient client() {
        return client;
    }

    /** Address of the API. */
    public String url() {
        return client.getConfiguration().getMasterUrl();
    }

    /** Refuses a cluster in which gpufleet is installed: two of them would overwrite each other's marks and webhook. */
    public void refuseInstalled() {
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
                            + "); use another cluster or the stand-in");
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

    /** Deletes a namespace and what is in it. */
    public void removeNamespace(String name) {
        client.namespaces().withName(name).delete();
    }

    /** One call, so that a wrong address or a refused certificate is said before anything starts. */
    public void check() {
        try {
            client.nodes().list();
        } catch (KubernetesClientException refused) {
            throw new ConfigurationException("the Kubernetes API at " + url() + " (kubeconfig '" + kubeconfig
                    + "') does not answer as it should: " + reason(refused));
        }
    }

    /** The address under which the API server reaches programs on this machine. */
    public String addressOfThisMachine() {
        try (var socket = new java.net.DatagramSocket()) {
            InetAddress server = InetAddress.getByName(URI.create(url()).getHost());
            if (server.isLoopbackAddress()) {
                return "127.0.0.1";
            }
            // Sends nothing; the system only chooses the route.
            socket.connect(server, 9);
            return socket.getLocalAddress().getHostAddress();
        } catch (IOException unknown) {
            return "127.0.0.1";
        }
    }

    /** Creates or updates everything that stands in the YAML files of a folder; tells the names. */
    public List<String> applyFiles(Path folder) {
        var names = new TreeSet<String>();
        for (Path file : yamlFiles(folder)) {
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
                        "the Kubernetes API at " + url() + " refuses " + file + ": " + reason(refused));
            }
        }
        return List.copyOf(names);
    }

    /** Removes simulated nodes and what runs there, at once; a Node without the mark is left alone. */
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

    /** Removes webhook configurations that call one of our addresses: nobody would answer there any more. */
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

    /** The full product name of the one model in the cluster that a short name means; refuses none and several. */
    public String product(String model) {
        return Products.match(
                model,
                client.nodes().list().getItems().stream()
                        .flatMap(node ->
                                Stream.ofNullable(labels(node.getMetadata()).get(PRODUCT)))
                        .distinct()
                        .toList());
    }

    /** Creates a pod that asks for GPUs; the API's own words when it is refused. */
    public void createPod(PodWish wish) {
        ensureNamespace(wish.namespace());
        try {
            client.pods().inNamespace(wish.namespace()).resource(wish.pod()).create();
        } catch (KubernetesClientException refused) {
            throw new ConfigurationException(
                    "pod " + wish.namespace() + "/" + wish.name() + " was refused: " + reason(refused));
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

    /** The server's own sentence where there is one. */
    private static String reason(KubernetesClientException refused) {
        return refused.getStatus() != null && refused.getStatus().getMessage() != null
                ? refused.getStatus().getMessage()
                : String.valueOf(
                        refused.getCause() == null
                                ? refused.getMessage()
                                : refused.getCause().getMessage());
    }

    private static Map<String, String> labels(ObjectMeta metadata) {
        return metadata.getLabels() == null ? Map.of() : metadata.getLabels();
    }

    private static List<Path> yamlFiles(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .filter(file -> !file.getFileName().toString().equals("kustomization.yaml"))
                    .sorted()
                    .toList();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
