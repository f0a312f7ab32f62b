package io.gpufleet.nodedaemon.pluginconfig;

import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.BOOL;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.COUNT;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.DEVICES;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.DIRECTORY;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.IMEX_CHANNELS;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.REPLICAS;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.RESOURCE;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.STRATEGIES;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.TEXT;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.XIDS;
import static io.gpufleet.nodedaemon.pluginconfig.SettingTypes.oneOf;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import java.util.List;

/** The keys of NVIDIA's configuration file with our section {@code gpufleet}, and of {@code select.yaml}. */
final class PluginKeys {
    private static final String WAITS = "the daemon always waits for the driver and scans again";
    private static final String NO_HOOKS = "the daemon writes CDI files without hook binaries";
    private static final String LABELS = "labels are written by the inventory-service from the daemon's announcements";

    /** NVIDIA's settings that apply to the whole node, ours, and those that are ignored. */
    static final SettingTable<PluginSettingsBuilder> NODE = new SettingTable<>(List.of(
            SettingKey.of(
                    "flags.migStrategy",
                    "MIG_STRATEGY",
                    oneOf(MigStrategy.values()),
                    "none",
                    "how MIG instances are offered",
                    (settings, value) -> settings.migStrategy = value),
            SettingKey.of(
                    "flags.plugin.deviceListStrategy",
                    "DEVICE_LIST_STRATEGY",
                    STRATEGIES,
                    "envvar",
                    "how containers get devices",
                    (settings, value) -> settings.deviceListStrategies = value),
            SettingKey.of(
                    "flags.plugin.deviceIDStrategy",
                    "DEVICE_ID_STRATEGY",
                    oneOf(DeviceIdStrategy.values()),
                    "uuid",
                    "names of devices in the container",
                    (settings, value) -> settings.deviceIdStrategy = value),
            SettingKey.of(
                    "flags.plugin.passDeviceSpecs",
                    "PASS_DEVICE_SPECS",
                    BOOL,
                    "false",
                    "device nodes in the answer to Allocate",
                    (settings, value) -> settings.passDeviceSpecs = value),
            SettingKey.of(
                    "flags.plugin.cdiAnnotationPrefix",
                    "CDI_ANNOTATION_PREFIX",
                    TEXT,
                    code(AllocateSettings.DEFAULT.cdiAnnotationPrefix()),
                    "prefix of CDI annotations",
                    (settings, value) -> settings.cdiAnnotationPrefix = value),
            SettingKey.of(
                    "flags.plugin.sharedDevicesAllocationPolicy",
                    "SHARED_DEVICES_ALLOCATION_POLICY",
                    oneOf(ReplicaAllocationPolicy.values()),
                    "distributed",
                    "which replicas are preferred",
                    (settings, value) -> settings.replicaPolicy = value),
            SettingKey.of(
                    "flags.nvidiaDriverRoot",
                    "NVIDIA_DRIVER_ROOT",
                    DIRECTORY,
                    "GPUFLEET_DRIVER_ROOT",
                    "root of the driver on the host",
                    (settings, value) -> settings.driverRoot = value),
            SettingKey.of(
                    "flags.mpsRoot",
                    "MPS_ROOT",
                    DIRECTORY,
                    code(SharingSettings.NONE.mpsRoot()),
                    "directory of the MPS control daemons",
                    (settings, value) -> settings.mpsRoot = value),
            SettingKey.of(
                    "flags.gdrcopyEnabled",
                    "GDRCOPY_ENABLED",
                    BOOL,
                    "false",
                    "device node of GDRCopy",
                    (settings, value) -> settings.kernelInterface(KernelInterface.GDRCOPY, value)),
            SettingKey.of(
                    "flags.gdsEnabled",
                    "GDS_ENABLED",
                    BOOL,
                    "false",
                    "device nodes of GPUDirect Storage",
                    (settings, value) -> settings.kernelInterface(KernelInterface.GDS, value)),
            SettingKey.of(
                    "flags.mofedEnabled",
                    "MOFED_ENABLED",
                    BOOL,
                    "false",
                    "device nodes of InfiniBand",
                    (settings, value) -> settings.kernelInterface(KernelInterface.MOFED, value)),
            SettingKey.of(
                    "imex.channelIDs",
                    "IMEX_CHANNEL_IDS",
                    IMEX_CHANNELS,
                    "nothing",
                    "IMEX channels of each container",
                    (settings, value) -> settings.imexChannel = value),
            SettingKey.of(
                    "imex.required",
                    "IMEX_REQUIRED",
                    BOOL,
                    "false",
                    "no allocation without the channel",
                    (settings, value) -> settings.imexRequired = value),
            SettingKey.of(
                    "gpufleet.ignoredXids",
                    "DP_DISABLE_HEALTHCHECKS",
                    XIDS,
                    "nothing",
                    "XIDs that never withdraw a device",
                    PluginSettingsBuilder::ignoredXids),
            SettingKey.of(
                    "gpufleet.enforcedXids",
                    "DP_ENABLE_HEALTHCHECKS",
                    XIDS,
                    "nothing",
                    "XIDs that always withdraw it",
                    PluginSettingsBuilder::enforcedXids),
            SettingKey.of(
                    "gpufleet.preStart",
                    "",
                    BOOL,
                    "false",
                    "the kubelet calls PreStartContainer",
                    (settings, value) -> settings.preStart = value),
            SettingKey.of(
                    "gpufleet.libraryPath",
                    "",
                    BOOL,
                    "false",
                    "LD_LIBRARY_PATH in addition to `host-mounts` and CDI",
                    (settings, value) -> settings.libraryPath = value),
            SettingKey.ignored(
                    "resources",
                    "",
                    "devices are named by NVIDIA's rules; rename shared ones with sharing.*.resources[].rename"),
            SettingKey.ignored("flags.failOnInitError", "FAIL_ON_INIT_ERROR", WAITS),
            SettingKey.ignored("flags.nvidiaDevRoot", "NVIDIA_DEV_ROOT", "set GPUFLEET_DEV_ROOT"),
            SettingKey.ignored("flags.useNodeFeatureAPI", "USE_NODE_FEATURE_API", LABELS),
            SettingKey.ignored("flags.deviceDiscoveryStrategy", "DEVICE_DISCOVERY_STRATEGY", "set GPUFLEET_DEVICES"),
            SettingKey.ignored("flags.gfd", "", LABELS),
            SettingKey.ignored("flags.plugin.nvidiaCTKPath", "NVIDIA_CTK_PATH", NO_HOOKS),
            SettingKey.ignored("flags.plugin.nvidiaCDIHookPath", "NVIDIA_CDI_HOOK_PATH", NO_HOOKS),
            SettingKey.ignored("flags.plugin.cdiFeatureFlags", "CDI_FEATURE_FLAGS", NO_HOOKS),
            SettingKey.ignored("flags.plugin.cdiDisableHooks", "CDI_DISABLE_HOOKS", NO_HOOKS),
            SettingKey.ignored("flags.plugin.containerDriverRoot", "CONTAINER_DRIVER_ROOT", "set GPUFLEET_HOST_ROOT"),
            SettingKey.ignored("", "DRIVER_ROOT_CTR_PATH", "set GPUFLEET_HOST_ROOT"),
            SettingKey.ignored("", "KUBELET_SOCKET", "set GPUFLEET_DEVICE_PLUGIN_DIR"),
            SettingKey.ignored("", "GFD_OUTPUT_FILE", LABELS),
            SettingKey.ignored("", "GFD_USE_NODE_FEATURE_API", LABELS),
            SettingKey.ignored("", "GFD_SLEEP_INTERVAL", LABELS),
            SettingKey.ignored("", "GFD_MIG_STRATEGY", "set MIG_STRATEGY")));

    /** The keys of {@code sharing.timeSlicing} and {@code sharing.mps}, beside their resources. */
    static final SettingTable<SharingSection> SHARING = new SettingTable<>(List.of(
            SettingKey.of(
                    "renameByDefault",
                    "",
                    BOOL,
                    "false",
                    "shared resources are named `NAME.shared`",
                    (sharing, value) -> sharing.renameByDefault = value),
            SettingKey.of(
                    "failRequestsGreaterThanOne",
                    "",
                    BOOL,
                    "false; true with mps",
                    "a container gets one replica at most",
                    (sharing, value) -> sharing.failGreaterThanOne = value)));

    /** The keys of an entry of {@code resources} there. */
    static final SettingTable<SharingSection.Entry> SHARED_RESOURCE = new SettingTable<>(List.of(
            SettingKey.of(
                    "name", "", RESOURCE, "required", "resource that is shared", (entry, value) -> entry.name = value),
            SettingKey.of(
                    "replicas",
                    "",
                    REPLICAS,
                    "required",
                    "replicas of each device",
                    (entry, value) -> entry.replicas = value),
            SettingKey.of(
                    "rename",
                    "",
                    RESOURCE,
                    "the name",
                    "name of the shared resource",
                    (entry, value) -> entry.rename = value),
            SettingKey.of(
                    "devices",
                    "",
                    DEVICES,
                    "all",
                    "devices that are shared",
                    (entry, value) -> entry.devices = value)));

    /** The keys of a rule of {@code select.yaml}, beside its file. */
    static final SettingTable<SettingsReader.SelectRule> RULE = new SettingTable<>(List.of(
            SettingKey.of("node", "", TEXT, "`*`", "name of the Node; `*` and `?`", (rule, value) -> rule.node = value),
            SettingKey.of(
                    "model",
                    "",
                    TEXT,
                    "all",
                    "short or product name of every GPU",
                    (rule, value) -> rule.model = value),
            SettingKey.of(
                    "gpus",
                    "",
                    COUNT,
                    "any number",
                    "number of GPUs, lost ones included",
                    (rule, value) -> rule.gpus = value)));

    private PluginKeys() {}

    private static String code(String value) {
        return "`" + value + "`";
    }

    /** The README's table. */
    static String readme() {
        return "| key | variable of NVIDIA's plugin | takes | default | meaning, or why it is ignored |\n"
                + "|---|---|---|---|---|\n"
                + NODE.rows("")
                + SHARING.rows("sharing.*.")
                + SHARED_RESOURCE.rows("sharing.*.resources[].")
                + RULE.rows("rules[].");
    }
}
