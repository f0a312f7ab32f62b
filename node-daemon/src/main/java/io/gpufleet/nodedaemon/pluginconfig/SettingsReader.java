package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector.Rule;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector.SelectedSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Builds the settings of this node from files, which NVIDIA's variables overwrite, which ours overwrite. */
final class SettingsReader {
    static final String SELECT = "select.yaml";

    private final SettingsSources sources;
    private final NvidiaPluginEnvironment nvidia;

    /** The settings and the ignored ones. */
    record SettingsReadResult(SettingsSelector selector, List<IgnoredSetting> ignoredSettings) {}

    SettingsReader(SettingsSources sources, NvidiaPluginEnvironment nvidia) {
        this.sources = sources;
        this.nvidia = nvidia;
    }

    /** The single configuration file; empty if none is configured. */
    String file() {
        return sources.file().isEmpty() ? nvidia.configFile() : sources.file();
    }

    /** Reads the settings for a label; with an empty one {@code select.yaml} decides. */
    SettingsReadResult read(ConfigFileContents contents, String label) {
        var ignored = new LinkedHashSet<>(nvidia.ignoredSettings());
        var fallback = file().isEmpty()
                ? selected("", "", "environment", ignored)
                : selected(file(), contents.singleFile(), file(), ignored);
        if (!label.isEmpty()) {
            String file = fileOf(contents, label)
                    .orElseThrow(() -> new InvalidSettingsException("the Node's label names the configuration '" + label
                            + "', which is not in " + describe(sources.directory()) + "; available: "
                            + contents.filesByName().keySet()));
            return new SettingsReadResult(
                    new SettingsSelector(List.of(), named(contents, file, "label " + label, ignored)),
                    List.copyOf(ignored));
        }
        return new SettingsReadResult(new SettingsSelector(rules(contents, ignored), fallback), List.copyOf(ignored));
    }

    private static Optional<String> fileOf(ConfigFileContents contents, String name) {
        return name.equals(SELECT) ? Optional.empty() : contents.fileOf(name);
    }

    private static String describe(String directory) {
        return directory.isEmpty() ? "any directory (GPUFLEET_CONFIG_DIR is not set)" : directory;
    }

    private List<Rule> rules(ConfigFileContents contents, Set<IgnoredSetting> ignored) {
        if (!contents.filesByName().containsKey(SELECT)) {
            return List.of();
        }
        var rules = new ArrayList<Rule>();
        YamlSection root = YamlSection.of(path(SELECT), contents.textOf(SELECT));
        for (YamlSection section : root.sections("rules")) {
            var rule = new SelectRule();
            if (!section.has("config")) {
                throw section.missing("config", "name a file of the same directory");
            }
            section.text("config", value -> {
                rule.file = fileOf(contents, value)
                        .orElseThrow(
                                () -> new IllegalArgumentException("it takes a file of the same directory; available: "
                                        + contents.filesByName().keySet()));
            });
            PluginKeys.RULE.read(section, rule, ignored::add);
            // Files for other nodes are not parsed, so their errors do not matter here.
            if (SettingsSelector.globMatches(rule.node, sources.node())) {
                rules.add(new Rule(
                        rule.model, rule.gpus, named(contents, rule.file, SELECT + ": " + rule.file, ignored)));
            }
        }
        ignored.addAll(root.unknown());
        return rules;
    }

    /** A rule as it is read. */
    static final class SelectRule {
        String node = "*";
        String model = "";
        int gpus;
        private String file = "";
    }

    private SelectedSettings named(
            ConfigFileContents contents, String fileName, String origin, Set<IgnoredSetting> ignored) {
        return selected(path(fileName), contents.textOf(fileName), origin, ignored);
    }

    private String path(String fileName) {
        return Path.of(sources.directory(), fileName).toString();
    }

    private SelectedSettings selected(String file, String text, String origin, Set<IgnoredSetting> ignored) {
        var settings = new PluginSettingsBuilder(sources.driverRoot());
        if (!file.isEmpty()) {
            PluginConfigFile.read(file, text, settings);
        }
        nvidia.apply(settings);
        if (!sources.deviceListStrategies().isEmpty()) {
            settings.deviceListStrategies = sources.deviceListStrategies();
        }
        ignored.addAll(settings.ignoredSettings);
        try {
            return new SelectedSettings(settings.build(), origin);
        } catch (IllegalArgumentException contradiction) {
            String where = file.isEmpty() ? "" : file + ": ";
            throw new InvalidSettingsException(where + contradiction.getMessage());
        }
    }
}
