package io.gpufleet.wire;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.internals.BrokerSecurityConfigs;

/**
 * URLs and files from which OAUTHBEARER gets its token. Kafka opens those alone that system properties list, as protection of
 * programs whose users set client properties, such as Kafka Connect. Here the operator alone sets them, in one file.
 */
final class TokenSources {
    private static final List<String> URLS =
            List.of(SaslConfigs.SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL, SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_URL);
    private static final List<String> FILES = List.of(
            SaslConfigs.SASL_OAUTHBEARER_ASSERTION_FILE,
            SaslConfigs.SASL_OAUTHBEARER_ASSERTION_PRIVATE_KEY_FILE,
            SaslConfigs.SASL_OAUTHBEARER_ASSERTION_TEMPLATE_FILE);

    private TokenSources() {}

    /** The files that the properties of a client name, by the key that names them. */
    static Map<String, Path> files(Map<String, String> client) {
        var files = new TreeMap<String, Path>();
        FILES.forEach(
                key -> Optional.ofNullable(client.get(key)).map(Path::of).ifPresent(file -> files.put(key, file)));
        URLS.forEach(key -> Optional.ofNullable(client.get(key))
                .flatMap(TokenSources::file)
                .ifPresent(file -> files.put(key, file)));
        return files;
    }

    private static Optional<Path> file(String url) {
        return url.startsWith("file:") ? Optional.of(Path.of(URI.create(url))) : Optional.empty();
    }

    /** Lets Kafka's clients of this process open what the properties of a client name. */
    static void allow(Map<String, String> client) {
        List<String> urls = URLS.stream()
                .flatMap(key -> Optional.ofNullable(client.get(key)).stream())
                .toList();
        List<String> files = files(client).values().stream().map(Path::toString).toList();
        add(BrokerSecurityConfigs.ALLOWED_SASL_OAUTHBEARER_URLS_CONFIG, urls);
        add(BrokerSecurityConfigs.ALLOWED_SASL_OAUTHBEARER_FILES_CONFIG, files);
    }

    private static void add(String property, List<String> values) {
        if (values.isEmpty()) {
            return;
        }
        var all = new TreeSet<>(values);
        Stream.of(System.getProperty(property, "").split(",", -1))
                .map(String::strip)
                .filter(value -> !value.isEmpty())
                .forEach(all::add);
        System.setProperty(property, String.join(",", all));
    }
}
