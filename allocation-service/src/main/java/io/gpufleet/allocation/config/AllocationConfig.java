package io.gpufleet.allocation.config;

import io.gpufleet.allocation.model.holding.PodLabels;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.tls.CertificateSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Settings of the allocation-service, without those of the bus.
 *
 * @param gpuResources names of resources that are GPUs before any node announced them
 * @param usageLabels keys of the labels of pods that usage carries
 */
public record AllocationConfig(
        Servers servers, Webhook webhook, ReadsMode reads, Set<String> gpuResources, Set<String> usageLabels) {
    private static final Pattern LABEL =
            Pattern.compile("([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    private static final int MAX_PORT = 65_535;

    /** Address of the HTTP and gRPC servers, their ports, and the certificate of HTTP. */
    public record Servers(String host, int httpPort, int grpcPort, CertificateSettings certificate) {}

    /**
     * Settings of the webhook.
     *
     * @param url URL by which the API server calls it; empty: by the Service {@code allocation-service}
     * @param namespace namespace of the Service and of the Secret with the certificate
     * @param clientCa file with the CA of the API server's client certificate; empty where it shows none
     */
    public record Webhook(String host, int port, String url, String namespace, String clientCa) {}

    /** These settings, with their defaults. */
    public static final List<Setting> SETTINGS = Stream.concat(
                    CertificateSettings.settings().stream(),
                    Stream.of(
                            Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address of the HTTP and gRPC servers"),
                            Setting.optional("GPUFLEET_HTTP_PORT", "8080", "port of /livez, /readyz, /metrics and /v1"),
                            Setting.optional(
                                    "GPUFLEET_GRPC_PORT", "9090", "port by which standbys reach the quota leader"),
                            ReadsMode.setting("list holdings or usage of gpufleet.io"),
                            Setting.optional(
                                    "GPUFLEET_WEBHOOK_HOST",
                                    "",
                                    "address of the webhook; GPUFLEET_HTTP_HOST where empty"),
                            Setting.optional("GPUFLEET_WEBHOOK_PORT", "8443", "port of the webhook"),
                            Setting.optional(
                                    "GPUFLEET_WEBHOOK_URL",
                                    "",
                                    "https URL by which the API server calls the webhook; empty in a cluster"),
                            Setting.optional(
                                    "GPUFLEET_WEBHOOK_CLIENT_CA",
                                    "",
                                    "PEM file with the CA of the certificate that the API server shows webhooks; nobody else is answered then"),
                            Setting.optional(
                                    "GPUFLEET_NAMESPACE",
                                    "gpufleet-system",
                                    "namespace of the Service and of the Secret with the certificate"),
                            Setting.optional(
                                    "GPUFLEET_GPU_RESOURCES",
                                    "nvidia.com/gpu,nvidia.com/gpu.shared,nvidia.com/mig-*,gpu.nvidia.com.deviceclass.resource.k8s.io/*,"
                                            + "mig.nvidia.com.deviceclass.resource.k8s.io/*",
                                    "resources and device classes that quotas count before a node announces them; * at the end: every name that begins so"),
                            Setting.optional(
                                    "GPUFLEET_USAGE_LABELS",
                                    "app.kubernetes.io/name,app.kubernetes.io/part-of,kueue.x-k8s.io/queue-name,team",
                                    "labels of pods that usage carries and can be grouped by, at most "
                                            + PodLabels.MAX_LABELS
                                            + "; pods keep those that they had when they were bound"),
                            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
                            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "lowest level that is logged")))
            .toList();

    /** Reads and validates the settings. */
    public static AllocationConfig from(Environment environment) {
        String url = environment.text("GPUFLEET_WEBHOOK_URL");
        if (!url.isEmpty() && !usable(url)) {
            throw environment.invalid(
                    "GPUFLEET_WEBHOOK_URL",
                    "an https URL that the API server reaches, for example https://127.0.0.1:8443/admit");
        }
        String webhookHost = environment.text("GPUFLEET_WEBHOOK_HOST");
        return new AllocationConfig(
                new Servers(
                        environment.text("GPUFLEET_HTTP_HOST"),
                        environment.integer("GPUFLEET_HTTP_PORT", 0, MAX_PORT),
                        environment.integer("GPUFLEET_GRPC_PORT", 0, MAX_PORT),
                        CertificateSettings.of(environment)),
                new Webhook(
                        webhookHost.isEmpty() ? environment.text("GPUFLEET_HTTP_HOST") : webhookHost,
                        environment.integer("GPUFLEET_WEBHOOK_PORT", 0, MAX_PORT),
                        url,
                        environment.text("GPUFLEET_NAMESPACE"),
                        clientCa(environment)),
                ReadsMode.of(environment, environment.text("GPUFLEET_HTTP_HOST")),
                gpuResources(environment),
                usageLabels(environment));
    }

    private static Set<String> gpuResources(Environment environment) {
        Set<String> names = names(environment, "GPUFLEET_GPU_RESOURCES");
        if (!names.stream().allMatch(GpuResources::isValid)) {
            throw environment.invalid(
                    "GPUFLEET_GPU_RESOURCES",
                    "names of extended resources, for example nvidia.com/gpu,nvidia.com/mig-*");
        }
        return names;
    }

    private static Set<String> usageLabels(Environment environment) {
        Set<String> names = names(environment, "GPUFLEET_USAGE_LABELS");
        if (names.size() > PodLabels.MAX_LABELS
                || !names.stream().allMatch(name -> LABEL.matcher(name).matches())) {
            throw environment.invalid(
                    "GPUFLEET_USAGE_LABELS",
                    "at most " + PodLabels.MAX_LABELS + " keys of labels, for example team,app.kubernetes.io/name");
        }
        return names;
    }

    private static Set<String> names(Environment environment, String setting) {
        return Arrays.stream(environment.text(setting).split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String clientCa(Environment environment) {
        String file = environment.text("GPUFLEET_WEBHOOK_CLIENT_CA");
        if (!file.isEmpty() && !hasCertificates(file)) {
            throw environment.invalid("GPUFLEET_WEBHOOK_CLIENT_CA", "a readable PEM file with certificates");
        }
        return file;
    }

    private static boolean hasCertificates(String file) {
        try (var stream = Files.newInputStream(Path.of(file))) {
            return !CertificateFactory.getInstance("X.509")
                    .generateCertificates(stream)
                    .isEmpty();
        } catch (IOException | CertificateException | InvalidPathException unreadable) {
            return false;
        }
    }

    private static boolean usable(String url) {
        try {
            URI uri = URI.create(url);
            return "https".equals(uri.getScheme()) && uri.getHost() != null;
        } catch (IllegalArgumentException malformed) {
            return false;
        }
    }
}
