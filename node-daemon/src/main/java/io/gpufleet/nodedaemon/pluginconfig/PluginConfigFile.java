package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.function.Consumer;

/**
 * Reads the configuration file of NVIDIA's device plugin ({@code version: v1}) with our own section {@code gpufleet}, which
 * NVIDIA's plugin ignores; its keys are in {@link PluginKeys}.
 */
final class PluginConfigFile {
    private PluginConfigFile() {}

    /** Overwrites settings with the values of a file, and adds its ignored settings. */
    static void read(String file, String text, PluginSettingsBuilder settings) {
        YamlSection root = YamlSection.of(file, text);
        if (!root.has("version")) {
            throw root.missing("version", "write version: v1 at the top");
        }
        root.text("version", version -> {
            if (!version.equals("v1")) {
                throw new IllegalArgumentException("it takes v1");
            }
        });
        Consumer<IgnoredSetting> ignored = settings.ignoredSettings::add;
        sharing(root.section("sharing"), settings, ignored);
        PluginKeys.NODE.read(root, settings, ignored);
    }

    private static void sharing(YamlSection sharing, PluginSettingsBuilder settings, Consumer<IgnoredSetting> ignored) {
        var timeSlicing = new SharingSection(SharingMode.TIME_SLICING, sharing.section("timeSlicing"), ignored);
        var mps = new SharingSection(SharingMode.MPS, sharing.section("mps"), ignored);
        if (timeSlicing.isPresent() && mps.isPresent()) {
            throw sharing.conflict("mps", "timeSlicing shares devices already; remove the resources of one of them");
        }
        if (timeSlicing.isPresent()) {
            timeSlicing.write(settings);
        }
        if (mps.isPresent()) {
            mps.write(settings);
        }
        sharing.unknown().forEach(ignored);
    }
}
