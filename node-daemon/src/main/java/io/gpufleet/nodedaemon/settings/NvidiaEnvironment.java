package io.gpufleet.nodedaemon.settings;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** The environment variables of NVIDIA's device plugin, as of its version 0.20. */
public final class NvidiaEnvironment {
    private static final String WAITS = "the daemon always waits for the driver and looks again";
    private static final String NO_HOOKS = "the daemon writes CDI files without hook binaries";
    private static final String LABELS = "labels are written by the inventory-service from what the daemon announces";

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

    private static final Map<String, BiConsumer<SettingsDraft, String>> HONOURED = Map.ofEntries(
            Map.entry("MIG_STRATEGY", (draft, value) -> draft.mig = Words.mig(value)),
            Map.entry("DEVICE_LIST_STRATEGY", (draft, value) -> draft.strategies = Words.strategies(Words.list(value))),
            Map.entry("DEVICE_ID_STRATEGY", (draft, value) -> draft.names = Words.idNames(value)),
            Map.entry("PASS_DEVICE_SPECS", (draft, value) -> draft.passDeviceSpecs = Words.flag(value)),
            Map.entry("NVIDIA_DRIVER_ROOT", (draft, value) -> draft.driverRoot = Words.directory(value)),
            Map.entry("GDRCOPY_ENABLED", (draft, value) -> draft.extra(Extra.GDRCOPY, Words.flag(value))),
            Map.entry("GDS_ENABLED", (draft, value) -> draft.extra(Extra.GDS, Words.flag(value))),
            Map.entry("MOFED_ENABLED", (draft, value) -> draft.extra(Extra.MOFED, Words.flag(value))),
            Map.entry("CDI_ANNOTATION_PREFIX", (draft, value) -> draft.cdiAnnotationPrefix = value),
            Map.entry("SHARED_DEVICES_ALLOCATION_POLICY", (draft, value) -> draft.order = Words.order(value)),
            Map.entry("IMEX_CHANNEL_IDS", (draft, value) -> draft.imexChannel = Words.imexChannel(Words.list(value))),
            Map.entry("IMEX_REQUIRED", (draft, value) -> draft.imexRequired = Words.flag(value)),
            Map.entry("MPS_ROOT", (draft, value) -> draft.mpsRoot = Words.directory(value)),
            Map.entry("DP_DISABLE_HEALTHCHECKS", (draft, value) -> draft.ignoredXids(Words.list(value))),
            Map.entry("DP_ENABLE_HEALTHCHECKS", (draft, value) -> draft.enforcedXids(Words.list(value))));

    private final Map<String, String> values = new TreeMap<>();

    /** Keeps what of an environment is NVIDIA's and not empty. */
    public NvidiaEnvironment(Map<String, String> environment) {
        environment.forEach((name, value) -> {
            if (!value.isBlank()
                    && (HONOURED.containsKey(name) || IGNORED.containsKey(name) || name.equals("CONFIG_FILE"))) {
                values.put(name, value.strip());
            }
        });
    }

    /** The configuration file that it names; empty where it names none. */
    String configFile() {
        return values.getOrDefault("CONFIG_FILE", "");
    }

    /** Writes its values over those of a file. */
    void apply(SettingsDraft draft) {
        values.forEach((name, value) -> {
            BiConsumer<SettingsDraft, String> honour = HONOURED.getOrDefault(name, (_, _) -> {});
            try {
                honour.accept(draft, value);
            } catch (IllegalArgumentException wrong) {
                throw new BadSettingsException(name + "='" + value + "' is not usable: " + wrong.getMessage());
            }
        });
    }

    /** What of it is not honoured. */
    List<Note> notes() {
        return values.entrySet().stream()
                .filter(entry -> IGNORED.containsKey(entry.getKey()))
                .map(entry ->
                        new Note(entry.getKey() + "=" + entry.getValue(), IGNORED.getOrDefault(entry.getKey(), "")))
                .toList();
    }
}
