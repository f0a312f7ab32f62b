package io.gpufleet.health.config;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Texts of policy packs, and their YAML with that of the pack that they extend. */
final class PolicyPackLoader {
    private static final List<String> PACKS = List.of("nvidia", "conservative", "aggressive");
    /** Of a file. */
    static final int MAX_BYTES = 256 * 1024;

    private PolicyPackLoader() {}

    /** Text of a bundled pack, or of a file; {@code setting} is named where there is none. */
    static String read(String setting, String nameOrPath) {
        try {
            if (PACKS.contains(nameOrPath)) {
                return bundled(nameOrPath);
            }
            Path file = Path.of(nameOrPath);
            if (!Files.isRegularFile(file)) {
                throw new ConfigurationException(setting + "='" + nameOrPath + "' is neither a pack ("
                        + String.join(", ", PACKS) + ") nor a file; name one of them");
            }
            if (Files.size(file) > MAX_BYTES) {
                throw tooLong(nameOrPath);
            }
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new ConfigurationException(
                    setting + "='" + nameOrPath + "' cannot be read: " + unreadable.getMessage());
        }
    }

    /** Rules of the text, and those of the pack that it extends where it has none. */
    static Map<?, ?> merged(String source, String text) {
        Map<?, ?> own = yaml(source, text);
        Object base = own.get("extends");
        if (base == null) {
            return own;
        }
        try {
            if (base instanceof String pack && PACKS.contains(pack) && !pack.equals(own.get("policy"))) {
                return merged(merged(pack, bundled(pack)), own);
            }
        } catch (IOException unreadable) {
            throw new ConfigurationException("policy " + source + ": " + base + " cannot be read");
        }
        throw new ConfigurationException(
                "policy " + source + ": extends=" + base + " takes another pack, one of " + String.join(", ", PACKS));
    }

    private static Map<?, ?> merged(Map<?, ?> base, Map<?, ?> own) {
        var merged = new LinkedHashMap<Object, Object>(base);
        own.forEach((key, value) -> {
            if (merged.get(key) instanceof Map<?, ?> rules
                    && value instanceof Map<?, ?> others
                    && !key.equals("escalation")) {
                var both = new LinkedHashMap<Object, Object>(rules);
                both.putAll(others);
                merged.put(key, both);
            } else {
                merged.put(key, value);
            }
        });
        return merged;
    }

    private static Map<?, ?> yaml(String source, String text) {
        if (text.length() > MAX_BYTES) {
            throw tooLong(source);
        }
        if (StrictYaml.load("policy " + source, text) instanceof Map<?, ?> map) {
            return map;
        }
        throw new ConfigurationException("policy " + source + " is not a YAML mapping; see policy/nvidia.yaml");
    }

    private static String bundled(String pack) throws IOException {
        try (InputStream in =
                PolicyPackLoader.class.getResourceAsStream("/io/gpufleet/health/policy/" + pack + ".yaml")) {
            if (in == null) {
                throw new IOException("pack " + pack + " is not in this program");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static ConfigurationException tooLong(String source) {
        return new ConfigurationException(
                "policy " + source + " is longer than " + MAX_BYTES / 1024 + " KiB; shorten it");
    }
}
