package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * Parses the configuration file of NVIDIA's device plugin ({@code version: v1}) with our own section {@code gpufleet},
 * which NVIDIA's plugin ignores.
 */
final class PluginConfigFile {
    private static final Map<String, String> IGNORED_FLAGS = Map.of(
            "failOnInitError", "the daemon always waits for the driver and scans again",
            "nvidiaDevRoot", "set GPUFLEET_DEV_ROOT",
            "useNodeFeatureAPI", "labels are written by the inventory-service",
            "deviceDiscoveryStrategy", "set GPUFLEET_DEVICES",
            "gfd", "labels are written by the inventory-service from the daemon's announcements");

    private static final Map<String, String> IGNORED_PLUGIN_FLAGS = Map.of(
            "nvidiaCTKPath", "the daemon writes CDI files without hook binaries",
            "nvidiaCDIHookPath", "the daemon writes CDI files without hook binaries",
            "cdiFeatureFlags", "the daemon writes CDI files without hook binaries",
            "cdiDisableHooks", "the daemon writes CDI files without hook binaries",
            "containerDriverRoot", "set GPUFLEET_HOST_ROOT");

    private final PluginSettingsBuilder settings;

    private PluginConfigFile(PluginSettingsBuilder settings) {
        this.settings = settings;
    }

    /** Overwrites settings with the values of a file, and adds its ignored settings. */
    static void read(String file, String text, PluginSettingsBuilder settings) {
        new PluginConfigFile(settings).read(YamlSection.of(file, text));
    }

    private void read(YamlSection root) {
        if (!root.has("version")) {
            throw root.missing("version", "write version: v1 at the top");
        }
        root.text("version", version -> {
            if (!version.equals("v1")) {
                throw new IllegalArgumentException("it takes v1");
            }
        });
        flags(root.section("flags"));
        sharing(root.section("sharing"));
        var imex = root.section("imex");
        imex.texts("channelIDs", ids -> settings.imexChannel = SettingValueParser.imexChannel(ids));
        imex.text("required", value -> settings.imexRequired = SettingValueParser.bool(value));
        settings.ignoredSettings.addAll(imex.unknown());
        var own = root.section("gpufleet");
        own.text("libraryPath", value -> settings.libraryPath = SettingValueParser.bool(value));
        own.text("preStart", value -> settings.preStart = SettingValueParser.bool(value));
        own.texts("ignoredXids", settings::ignoredXids);
        own.texts("enforcedXids", settings::enforcedXids);
        settings.ignoredSettings.addAll(own.unknown());
        settings.ignoredSettings.addAll(root.ignored(
                "resources",
                "devices are named by NVIDIA's rules; rename shared ones with sharing.*.resources[].rename"));
        settings.ignoredSettings.addAll(root.unknown());
    }

    private void flags(YamlSection flags) {
        flags.text("migStrategy", value -> settings.migStrategy = SettingValueParser.migStrategy(value));
        flags.text("mpsRoot", value -> settings.mpsRoot = SettingValueParser.directory(value));
        flags.text("nvidiaDriverRoot", value -> settings.driverRoot = SettingValueParser.directory(value));
        flags.text(
                "gdrcopyEnabled",
                value -> settings.kernelInterface(KernelInterface.GDRCOPY, SettingValueParser.bool(value)));
        flags.text(
                "gdsEnabled", value -> settings.kernelInterface(KernelInterface.GDS, SettingValueParser.bool(value)));
        flags.text(
                "mofedEnabled",
                value -> settings.kernelInterface(KernelInterface.MOFED, SettingValueParser.bool(value)));
        var plugin = flags.section("plugin");
        plugin.text("passDeviceSpecs", value -> settings.passDeviceSpecs = SettingValueParser.bool(value));
        plugin.texts(
                "deviceListStrategy",
                values -> settings.deviceListStrategies = SettingValueParser.deviceListStrategies(values));
        plugin.text(
                "deviceIDStrategy", value -> settings.deviceIdStrategy = SettingValueParser.deviceIdStrategy(value));
        plugin.text("cdiAnnotationPrefix", value -> settings.cdiAnnotationPrefix = value);
        plugin.text(
                "sharedDevicesAllocationPolicy",
                value -> settings.replicaPolicy = SettingValueParser.replicaPolicy(value));
        IGNORED_FLAGS.forEach((key, why) -> settings.ignoredSettings.addAll(flags.ignored(key, why)));
        IGNORED_PLUGIN_FLAGS.forEach((key, why) -> settings.ignoredSettings.addAll(plugin.ignored(key, why)));
        settings.ignoredSettings.addAll(plugin.unknown());
        settings.ignoredSettings.addAll(flags.unknown());
    }

    private void sharing(YamlSection sharing) {
        SharingSection timeSlicing = sharingSection(sharing.section("timeSlicing"), SharingMode.TIME_SLICING, false);
        SharingSection mps = sharingSection(sharing.section("mps"), SharingMode.MPS, true);
        if (timeSlicing.isPresent() && mps.isPresent()) {
            throw sharing.conflict("mps", "timeSlicing shares devices already; remove the resources of one of them");
        }
        if (timeSlicing.isPresent()) {
            timeSlicing.write(settings);
        }
        if (mps.isPresent()) {
            mps.write(settings);
        }
        settings.ignoredSettings.addAll(sharing.unknown());
    }

    private SharingSection sharingSection(YamlSection section, SharingMode mode, boolean failByDefault) {
        var result = new SharingSection(mode);
        result.failGreaterThanOne = failByDefault;
        result.sharedResources =
                section.sections("resources").stream().map(this::shared).toList();
        section.text("renameByDefault", value -> result.renameByDefault = SettingValueParser.bool(value));
        section.text("failRequestsGreaterThanOne", value -> result.failGreaterThanOne = SettingValueParser.bool(value));
        settings.ignoredSettings.addAll(section.unknown());
        return result;
    }

    /** Settings of one sharing mode; ignored without resources. */
    private static final class SharingSection {
        private final SharingMode mode;
        private boolean renameByDefault;
        private boolean failGreaterThanOne;
        private List<SharedResource> sharedResources = List.of();

        private SharingSection(SharingMode mode) {
            this.mode = mode;
        }

        private boolean isPresent() {
            return !sharedResources.isEmpty();
        }

        private void write(PluginSettingsBuilder settings) {
            settings.sharingMode = mode;
            settings.renameByDefault = renameByDefault;
            settings.failGreaterThanOne = failGreaterThanOne;
            settings.sharedResources = sharedResources;
        }
    }

    private SharedResource shared(YamlSection entry) {
        var read = new SharedResourceEntry();
        for (String key : List.of("name", "replicas")) {
            if (!entry.has(key)) {
                throw entry.missing(key, "write it, for example name: nvidia.com/gpu, replicas: 4");
            }
        }
        entry.text("name", value -> read.name = SettingValueParser.resource(value));
        entry.text("rename", value -> read.rename = SettingValueParser.resource(value));
        entry.text("replicas", value -> read.replicas = SettingValueParser.replicas(value));
        boolean isList = entry.isList("devices");
        entry.texts("devices", values -> read.devices = deviceSelector(values, isList));
        settings.ignoredSettings.addAll(entry.unknown());
        return new SharedResource(read.name, read.rename, read.devices, read.replicas);
    }

    private static final class SharedResourceEntry {
        private String name = "";
        private String rename = "";
        private int replicas;
        private DeviceSelector devices = new DeviceSelector.All();
    }

    /** {@code all}, a count, or a list of indices, MIG indices {@code i:j} and UUIDs. */
    private static DeviceSelector deviceSelector(List<String> values, boolean isList) {
        if (!isList && values.equals(List.of("all"))) {
            return new DeviceSelector.All();
        }
        if (!isList && values.size() == 1 && values.getFirst().matches("[1-9]\\d{0,3}")) {
            return new DeviceSelector.First(Integer.parseInt(values.getFirst()));
        }
        boolean names = isList && values.stream().allMatch(value -> value.matches("\\d{1,4}(:\\d{1,2})?|(GPU|MIG)-.+"));
        if (!names || values.isEmpty()) {
            throw new IllegalArgumentException(
                    "it takes all, a count, or a list of GPU indices, MIG indices such as 0:1, and UUIDs");
        }
        return new DeviceSelector.Listed(new LinkedHashSet<>(values));
    }
}
