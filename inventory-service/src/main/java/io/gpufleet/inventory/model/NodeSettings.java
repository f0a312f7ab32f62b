package io.gpufleet.inventory.model;

import java.util.Map;

/**
 * Settings that an administrator chose by labels of the Node; empty text where the label is absent.
 *
 * @param devicePluginConfig label {@value #DEVICE_PLUGIN_CONFIG}
 * @param migConfig label {@value #MIG_CONFIG}
 */
public record NodeSettings(String devicePluginConfig, String migConfig) {
    /** Label that names the configuration of the daemon. */
    public static final String DEVICE_PLUGIN_CONFIG = "nvidia.com/device-plugin.config";
    /** Label that names the MIG partitioning. */
    public static final String MIG_CONFIG = "nvidia.com/mig.config";

    /** Neither label is set. */
    public static final NodeSettings NONE = new NodeSettings("", "");

    /** Reads the settings from the labels of a Node. */
    public static NodeSettings of(Map<String, String> labels) {
        return new NodeSettings(labels.getOrDefault(DEVICE_PLUGIN_CONFIG, ""), labels.getOrDefault(MIG_CONFIG, ""));
    }
}
