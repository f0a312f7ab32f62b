package io.gpufleet.inventory.model;

import java.util.Map;

/**
 * Settings of a node that an administrator chose by Node labels; empty text where the label is absent.
 *
 * @param devicePluginConfig label {@value #DEVICE_PLUGIN_CONFIG}
 * @param migConfig label {@value #MIG_CONFIG}
 */
public record NodeSettings(String devicePluginConfig, String migConfig) {
    /** Names the daemon's configuration. */
    public static final String DEVICE_PLUGIN_CONFIG = "nvidia.com/device-plugin.config";
    /** Names the MIG partitioning. */
    public static final String MIG_CONFIG = "nvidia.com/mig.config";

    /** Nothing was chosen. */
    public static final NodeSettings NONE = new NodeSettings("", "");

    /** What the labels of a Node choose. */
    public static NodeSettings of(Map<String, String> labels) {
        return new NodeSettings(labels.getOrDefault(DEVICE_PLUGIN_CONFIG, ""), labels.getOrDefault(MIG_CONFIG, ""));
    }
}
