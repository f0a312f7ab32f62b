package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the operator's files and the Node's label, and publishes the settings. Invalid settings fail a start; later the
 * previous ones stay in force. The label's value is saved in the file {@code selected-config}, so that device ids do not
 * change at a start until Kafka responds.
 */
public final class SettingsWatcher {
    private static final Logger LOG = LoggerFactory.getLogger(SettingsWatcher.class);

    private final SettingsSources sources;
    private final SettingsReader reader;
    private final Consumer<SettingsSelector> changed;
    private final Path labelFile;
    private ConfigFileContents contents = new ConfigFileContents("", Map.of());
    private List<IgnoredSetting> ignoredSettings = List.of();
    private SettingsSelector selector;
    private String label;
    private String lastError = "";

    /** Reads the settings; throws {@link ConfigurationException} if they are invalid. */
    public SettingsWatcher(
            SettingsSources sources, NvidiaPluginEnvironment nvidia, Consumer<SettingsSelector> changed) {
        this.sources = sources;
        this.reader = new SettingsReader(sources, nvidia);
        this.changed = changed;
        this.labelFile = sources.stateDirectory().resolve("selected-config");
        this.label = storedLabel();
        this.selector = initialSelector();
    }

    /** The current settings; before the first {@link #poll} those of the start. */
    public SettingsSelector selector() {
        return selector;
    }

    /** The ignored settings with the behaviour instead, one line each. */
    public List<String> ignored() {
        return ignoredSettings.stream()
                .map(setting -> setting.where() + ": " + setting.why())
                .toList();
    }

    private SettingsSelector initialSelector() {
        try {
            contents = ConfigFileContents.read(reader.file(), sources.directory());
            boolean known = label.isEmpty() || contents.fileOf(label).isPresent();
            if (!known) {
                logInvalid("the Node's label names the configuration '" + label + "', which is not in '"
                        + sources.directory() + "' any more; settings are selected without a label");
            }
            return accept(reader.read(contents, known ? label : ""));
        } catch (InvalidSettingsException invalid) {
            throw new ConfigurationException(String.valueOf(invalid.getMessage()));
        }
    }

    /** Reads the files once; publishes the settings if they changed. */
    public synchronized void poll() {
        try {
            var now = ConfigFileContents.read(reader.file(), sources.directory());
            if (!now.equals(contents)) {
                contents = now;
                update(reader.read(now, label));
            }
        } catch (InvalidSettingsException invalid) {
            logInvalid(String.valueOf(invalid.getMessage()));
        }
    }

    /** Handles the configuration name in the Node's label, which may not exist yet; empty if there is none. */
    public synchronized void labelChanged(String name) {
        if (name.equals(label)) {
            return;
        }
        label = name;
        storeLabel(name);
        try {
            update(reader.read(contents, name));
        } catch (InvalidSettingsException invalid) {
            logInvalid(String.valueOf(invalid.getMessage()));
        }
    }

    private void update(SettingsReader.SettingsReadResult read) {
        lastError = "";
        SettingsSelector before = selector;
        selector = accept(read);
        if (!selector.equals(before)) {
            changed.accept(selector);
        }
    }

    private SettingsSelector accept(SettingsReader.SettingsReadResult read) {
        read.ignoredSettings().stream()
                .filter(setting -> !ignoredSettings.contains(setting))
                .forEach(setting -> LOG.atWarn()
                        .addKeyValue("setting", setting.where())
                        .addKeyValue("why", setting.why())
                        .log("setting ignored"));
        ignoredSettings = read.ignoredSettings();
        return read.selector();
    }

    private void logInvalid(String line) {
        if (!line.equals(lastError)) {
            LOG.atError().addKeyValue("error", line).log("settings invalid, previous ones stay in force");
        }
        lastError = line;
    }

    private String storedLabel() {
        try {
            return Files.readString(labelFile).strip();
        } catch (IOException notSaved) {
            return "";
        }
    }

    private void storeLabel(String name) {
        try {
            AtomicFile.write(
                    labelFile, (name + "\n").getBytes(StandardCharsets.UTF_8), AtomicFile.Durability.POWER_CUT);
        } catch (IOException failed) {
            LOG.atWarn()
                    .addKeyValue("file", labelFile)
                    .addKeyValue("error", failed.toString())
                    .log(
                            "configuration of the Node's label cannot be saved; a restart without Kafka would not know it");
        }
    }
}
