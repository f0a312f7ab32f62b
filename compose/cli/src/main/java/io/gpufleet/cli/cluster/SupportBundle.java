package io.gpufleet.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Bundle for support about an installation, as a ZIP file: findings, objects, events and logs. Secrets are not
 * read, and every text goes through {@link Redaction}.
 */
public final class SupportBundle {
    private static final List<String> NAMESPACES = List.of("gpufleet-system", "gpufleet-node");
    private static final int LOG_LINES = 5_000;
    private static final String CANNOT_BE_READ = "cannot be read: ";

    private final KubernetesClient client;

    /** Reads by {@code client} only. */
    public SupportBundle(KubernetesClient client) {
        this.client = client;
    }

    /** Writes the file; what cannot be read is an entry that says why. */
    public void write(Path file, List<Finding> findings) {
        try {
            writeZip(file, findings);
        } catch (IOException | UncheckedIOException failed) {
            throw new ConfigurationException("--bundle '" + file + "' cannot be written: " + failed.getMessage());
        }
    }

    private void writeZip(Path file, List<Finding> findings) throws IOException {
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            add(zip, "doctor.txt", () -> findings.stream().map(Finding::toLine).collect(Collectors.joining("\n")));
            addNodes(zip);
            add(
                    zip,
                    "gpuquotas.yaml",
                    () -> yaml(client.genericKubernetesResources("gpufleet.io/v1alpha1", "GpuQuota")
                            .list()
                            .getItems()));
            add(
                    zip,
                    "webhooks.yaml",
                    () -> yaml(client.admissionRegistration()
                            .v1()
                            .validatingWebhookConfigurations()
                            .list()
                            .getItems()));
            for (String namespace : NAMESPACES) {
                addNamespace(zip, namespace);
            }
        }
    }

    /** One page of them after the other, each Node once. */
    private void addNodes(ZipOutputStream zip) throws IOException {
        zip.putNextEntry(new ZipEntry("nodes.yaml"));
        Set<String> written = new HashSet<>();
        try {
            NodePages.forEach(client.nodes()::list, node -> {
                if (written.add(node.getMetadata().getName())) {
                    write(zip, yaml(List.of(node)));
                }
            });
        } catch (KubernetesClientException failed) {
            write(zip, CANNOT_BE_READ + failed.getMessage());
        }
        zip.closeEntry();
    }

    private void addNamespace(ZipOutputStream zip, String namespace) throws IOException {
        add(zip, namespace + "/pods.yaml", () -> yaml(pods(namespace)));
        add(
                zip,
                namespace + "/statefulsets.yaml",
                () -> yaml(client.apps()
                        .statefulSets()
                        .inNamespace(namespace)
                        .list()
                        .getItems()));
        add(
                zip,
                namespace + "/daemonsets.yaml",
                () -> yaml(
                        client.apps().daemonSets().inNamespace(namespace).list().getItems()));
        add(
                zip,
                namespace + "/configmaps.yaml",
                () -> yaml(client.configMaps().inNamespace(namespace).list().getItems()));
        add(
                zip,
                namespace + "/events.yaml",
                () -> yaml(client.v1().events().inNamespace(namespace).list().getItems()));
        for (Pod pod : readablePods(namespace)) {
            String name = pod.getMetadata().getName();
            var log = client.pods().inNamespace(namespace).withName(name);
            add(
                    zip,
                    namespace + "/logs/" + name + ".log",
                    () -> log.tailingLines(LOG_LINES).getLog());
            if (restarted(pod)) {
                add(
                        zip,
                        namespace + "/logs/" + name + ".previous.log",
                        () -> log.terminated().tailingLines(LOG_LINES).getLog());
            }
        }
    }

    private List<Pod> pods(String namespace) {
        return client.pods().inNamespace(namespace).list().getItems();
    }

    /** None where they may not be listed, which the entry of the pods says. */
    private List<Pod> readablePods(String namespace) {
        try {
            return pods(namespace);
        } catch (KubernetesClientException forbidden) {
            return List.of();
        }
    }

    private static boolean restarted(Pod pod) {
        return pod.getStatus().getContainerStatuses().stream().anyMatch(status -> status.getRestartCount() > 0);
    }

    private String yaml(List<? extends HasMetadata> objects) {
        return objects.stream()
                .map(object -> {
                    object.getMetadata().setManagedFields(List.of());
                    return client.getKubernetesSerialization().asYaml(object);
                })
                .collect(Collectors.joining());
    }

    private static void add(ZipOutputStream zip, String name, Supplier<String> text) throws IOException {
        String content;
        try {
            content = text.get();
        } catch (KubernetesClientException failed) {
            content = CANNOT_BE_READ + failed.getMessage();
        }
        zip.putNextEntry(new ZipEntry(name));
        write(zip, content);
        zip.closeEntry();
    }

    private static void write(ZipOutputStream zip, String content) {
        try {
            zip.write(Redaction.of(content).getBytes(UTF_8));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
