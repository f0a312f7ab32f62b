package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.pluginconfig.SettingKey.Use;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The environment variables of NVIDIA's device plugin, as of its version 0.20; they are in {@link PluginKeys}. */
public final class NvidiaPluginEnvironment {
    private static final String CONFIG_FILE = "CONFIG_FILE";

    private final Map<String, String> values = new TreeMap<>();

    /** Selects the non-empty variables of NVIDIA's plugin. */
    public NvidiaPluginEnvironment(Map<String, String> environment) {
        environment.forEach((name, value) -> {
            if (!value.isBlank() && (key(name).isPresent() || name.equals(CONFIG_FILE))) {
                values.put(name, value.strip());
            }
        });
    }

    private static Optional<SettingKey<PluginSettingsBuilder>> key(String variable) {
        return PluginKeys.NODE.ofVariable(variable);
    }

    /** The configuration file; empty if none is set. */
    String configFile() {
        return values.getOrDefault(CONFIG_FILE, "");
    }

    /** Overwrites the values of a file. */
    void apply(PluginSettingsBuilder settings) {
        values.forEach((name, value) -> {
            try {
                key(name).ifPresent(key -> PluginKeys.NODE.write(key, value, settings));
            } catch (IllegalArgumentException wrong) {
                throw new InvalidSettingsException(name + "='" + value + "' is not usable: " + wrong.getMessage());
            }
        });
    }

    /** The variables that are ignored. */
    List<IgnoredSetting> ignoredSettings() {
        return values.entrySet().stream()
                .flatMap(value -> key(value.getKey())
                        .filter(key -> key.use() instanceof Use.Ignored)
                        .map(key -> new IgnoredSetting(value.getKey() + "=" + value.getValue(), key.meaning()))
                        .stream())
                .toList();
    }
}
