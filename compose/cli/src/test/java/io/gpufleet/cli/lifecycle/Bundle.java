package io.gpufleet.cli.lifecycle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.cli.install.Installation;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipInputStream;

/** A bundle for support and what it must not contain. */
final class Bundle {
    private Bundle() {}

    /** It has what somebody who helps must see, all of which could be read, and no key. */
    static void assertHelpfulAndWithoutSecrets(Path file, KubernetesClient client) throws IOException {
        Map<String, String> texts = read(file);
        assertThat(texts)
                .containsKeys(
                        "doctor.txt",
                        "nodes.yaml",
                        "gpufleet-system/pods.yaml",
                        "gpufleet-system/logs/health-service-0.log",
                        "gpufleet-node/daemonsets.yaml")
                .allSatisfy((name, text) -> assertThat(text).as(name).doesNotContain("cannot be read"));
        List<String> secrets = secrets(client);
        assertThat(texts.values()).allSatisfy(text -> assertThat(text).doesNotContain(secrets));
    }

    /** Its texts by their names. */
    private static Map<String, String> read(Path file) throws IOException {
        var texts = new TreeMap<String, String>();
        try (var zip = new ZipInputStream(Files.newInputStream(file))) {
            for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                texts.put(entry.getName(), new String(zip.readAllBytes(), UTF_8));
            }
        }
        return texts;
    }

    /** Keys of the Secrets, as they are and in their encoding, and the path that only the API server knows. */
    private static List<String> secrets(KubernetesClient client) {
        var secrets = new ArrayList<String>();
        for (String secret : List.of("gpufleet-webhook", "gpufleet-ca")) {
            client.secrets()
                    .inNamespace(Installation.SERVICES)
                    .withName(secret)
                    .get()
                    .getData()
                    .forEach((name, value) -> {
                        if (name.endsWith(".key")) {
                            secrets.add(value);
                            new String(Base64.getDecoder().decode(value), UTF_8)
                                    .lines()
                                    .filter(line -> !line.startsWith("-----"))
                                    .forEach(secrets::add);
                        }
                    });
        }
        client
                .admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .get()
                .getWebhooks()
                .stream()
                .map(webhook -> webhook.getClientConfig())
                .flatMap(config -> config.getService() == null
                        ? Stream.of(URI.create(config.getUrl()).getPath())
                        : Stream.of(config.getService().getPath()))
                .map(path -> path.substring(path.lastIndexOf('/') + 1))
                .forEach(secrets::add);
        return List.copyOf(secrets);
    }
}
