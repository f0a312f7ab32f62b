package io.gpufleet.health.config;

import io.gpufleet.kit.config.ConfigurationException;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** YAML of the files of an operator: plain data, each key once. */
final class StrictYaml {
    private StrictYaml() {}

    /**
     * Parses a document; null when it is empty.
     *
     * @param what the file, as the subject of the message where it is malformed
     */
    static @Nullable Object load(String what, String text) {
        var options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        try {
            return new Yaml(new SafeConstructor(options)).load(text);
        } catch (YAMLException malformed) {
            String line = String.valueOf(malformed.getMessage()).replaceAll("\\s+", " ");
            throw new ConfigurationException(what + " is not YAML: " + line);
        }
    }
}
