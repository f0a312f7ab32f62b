package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** The environment variables of NVIDIA's device plugin, as of its version 0.20. */
public final class NvidiaEnvironment {
    private static final String WAITS = "the daemon always waits for the driver and scans again";
    private static final String NO_HOOKS = "the daemon writes CDI files without hook binaries";
    private static final String LABELS = "labels are written by the inventory-service from the daemon's announcements";

    private static final Map<String, String> IGNORED = Map.ofEntries(
            Map.entry("FAIL_ON_INIT_ERROR", WAITS),
            Map.entry("NVIDIA_DEV_ROOT", "set GPUFLEET_DEV_ROOT"),
            Map.entry("DRIVER_ROOT_CTR_PATH", "set GPUFLEET_HOST_ROOT"),
            Map.entry("CONTAINER_DRIVER_ROOT", "set GPUFLEET_HOST_ROOT"),
            Map.entry("NVIDIA_CDI_HOOK_PATH", NO_HOOKS),
            Map.entry("NVIDIA_CTK_PATH", NO_HOOKS),
            Map.entry("CDI_FEATURE_FLAGS", NO_HOOKS),
            Map.entry("CDI_DISABLE_HOOKS", NO_HOOKS),
            Map.entry("DEVICE_DISCOVERY_STRATEGY", "set GPUFLEET_DEVICES"),
            Map.entry("KUBELET_SOCKET", "set GPUFLEET_DEVICE_PLUGIN_DIR"),
            Map.entry("USE_NODE_FEATURE_API", LABELS),
            Map.entry("GFD_OUTPUT_FILE", LABELS),
            Map.entry("GFD_USE_NODE_FEATURE_API", LABELS),
            Map.entry("GFD_SLEEP_INTERVAL", LABELS),
            Map.entry("GFD_MIG_STRATEGY", "set MIG_STRATEGY"));

    private static final Map<String, BiConsumer<PluginSettingsBuilder, String>> SUPPORTED = Map.ofEntries(
            Map.entry(
                    "MIG_STRATEGY", (settings, value) -> settings.migStrategy = SettingValueParser.migStrategy(value)),
            Map.entry(
                    "DEVICE_LIST_STRATEGY",
                    (settings, value) -> settings.deviceListStrategies =
                            SettingValueParser.deviceListStrategies(SettingValueParser.list(value))),
            Map.entry(
                    "DEVICE_ID_STRATEGY",
                    (settings, value) -> settings.deviceIdStrategy = SettingValueParser.deviceIdStrategy(value)),
            Map.entry(
                    "PASS_DEVICE_SPECS",
                    (settings, value) -> settings.passDeviceSpecs = SettingValueParser.bool(value)),
            Map.entry(
                    "NVIDIA_DRIVER_ROOT",
                    (settings, value) -> settings.driverRoot = SettingValueParser.directory(value)),
            Map.entry(
                    "GDRCOPY_ENABLED",
                    (settings, value) ->
                            settings.kernelInterface(KernelInterface.GDRCOPY, SettingValueParser.bool(value))),
            Map.entry(
                    "GDS_ENABLED",
                    (settings, value) -> settings.kernelInterface(KernelInterface.GDS, SettingValueParser.bool(value))),
            Map.entry(
                    "MOFED_ENABLED",
                    (settings, value) ->
                            settings.kernelInterface(KernelInterface.MOFED, SettingValueParser.bool(value))),
            Map.entry("CDI_ANNOTATION_PREFIX", (settings, value) -> settings.cdiAnnotationPrefix = value),
            Map.entry(
                    "SHARED_DEVICES_ALLOCATION_POLICY",
                    (settings, value) -> settings.replicaPolicy = SettingValueParser.replicaPolicy(value)),
            Map.entry(
                    "IMEX_CHANNEL_IDS",
                    (settings, value) ->
                            settings.imexChannel = SettingValueParser.imexChannel(SettingValueParser.list(value))),
            Map.entry("IMEX_REQUIRED", (settings, value) -> settings.imexRequired = SettingValueParser.bool(value)),
            Map.entry("MPS_ROOT", (settings, value) -> settings.mpsRoot = SettingValueParser.directory(value)),
            Map.entry(
                    "DP_DISABLE_HEALTHCHECKS",
                    (settings, value) -> settings.ignoredXids(SettingValueParser.list(value))),
            Map.entry(
                    "DP_ENABLE_HEALTHCHECKS",
                    (settings, value) -> settings.enforcedXids(SettingValueParser.list(value))));

    private final Map<String, String> values = new TreeMap<>();

    /** Selects the non-empty variables of NVIDIA's plugin. */
    public NvidiaEnvironment(Map<String, String> environment) {
        environment.forEach((name, value) -> {
            if (!value.isBlank()
                    && (SUPPORTED.containsKey(name) || IGNORED.containsKey(name) || name.equals("CONFIG_FILE"))) {
                values.put(name, value.strip());
            }
        });
    }

    /** The configuration file; empty if none is set. */
    String configFile() {
        return values.getOrDefault("CONFIG_FILE", "");
    }

    /** Overwrites the values of a file. */
    void apply(PluginSettingsBuilder settings) {
        values.forEach((name, value) -> {
            BiConsumer<PluginSettingsBuilder, String> setter = SUPPORTED.getOrDefault(name, (_, _) -> {});
            try {
                setter.accept(settings, value);
            } catch (IllegalArgumentException wrong) {
                throw new InvalidSettingsException(name + "='" + value + "' is not usable: " + wrong.getMessage());
            }
        });
    }

    /** The variables that are ignored. */
    List<IgnoredSetting> ignoredSettings() {
        return values.entrySet().stream()
                .filter(entry -> IGNORED.containsKey(entry.getKey()))
                .map(entry -> new IgnoredSetting(
                        entry.getKey() + "=" + entry.getValue(), IGNORED.getOrDefault(entry.getKey(), "")))
                .toList();
    }
}
