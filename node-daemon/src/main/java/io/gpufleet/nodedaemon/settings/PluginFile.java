package io.gpufleet.nodedaemon.settings;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Pick;
import io.gpufleet.nodedaemon.model.settings.SharePlan.SharedResource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * The configuration file of NVIDIA's device plugin ({@code version: v1}), and in it the section {@code gpufleet} with
 * what only we know; NVIDIA's plugin passes over that.
 */
final class PluginFile {
    private static final Map<String, String> IGNORED_FLAGS = Map.of(
            "failOnInitError", "the daemon always waits for the driver and looks again",
            "nvidiaDevRoot", "set GPUFLEET_DEV_ROOT",
            "useNodeFeatureAPI", "labels are written by the inventory-service",
            "deviceDiscoveryStrategy", "set GPUFLEET_DEVICES",
            "gfd", "labels are written by the inventory-service from what the daemon announces");

    private static final Map<String, String> IGNORED_PLUGIN_FLAGS = Map.of(
            "nvidiaCTKPath", "the daemon writes CDI files without hook binaries",
            "nvidiaCDIHookPath", "the daemon writes CDI files without hook binaries",
            "cdiFeatureFlags", "the daemon writes CDI files without hook binaries",
            "cdiDisableHooks", "the daemon writes CDI files without hook binaries",
            "containerDriverRoot", "set GPUFLEET_HOST_ROOT");

    private final SettingsDraft draft;

    private PluginFile(SettingsDraft draft) {
        this.draft = draft;
    }

    /** Writes what a file says over a draft, and what of it is not honoured into its notes. */
    static void read(String file, String text, SettingsDraft draft) {
        new PluginFile(draft).read(Section.of(file, text));
    }

    private void read(Section root) {
        if (!root.has("version")) {
            throw root.missing("version", "write version: v1 at the top");
        }
        root.word("version", version -> {
            if (!version.equals("v1")) {
                throw new IllegalArgumentException("it takes v1");
            }
        });
        flags(root.section("flags"));
        sharing(root.section("sharing"));
        var imex = root.section("imex");
        imex.words("channelIDs", ids -> draft.imexChannel = Words.imexChannel(ids));
        imex.word("required", word -> draft.imexRequired = Words.flag(word));
        draft.notes.addAll(imex.unknown());
        var ours = root.section("gpufleet");
        ours.word("libraryPath", word -> draft.libraryPath = Words.flag(word));
        ours.word("preStart", word -> draft.preStart = Words.flag(word));
        ours.words("ignoredXids", draft::ignoredXids);
        ours.words("enforcedXids", draft::enforcedXids);
        draft.notes.addAll(ours.unknown());
        draft.notes.addAll(root.ignored(
                "resources",
                "devices are named by NVIDIA's rules; rename shared ones with sharing.*.resources[].rename"));
        draft.notes.addAll(root.unknown());
    }

    private void flags(Section flags) {
        flags.word("migStrategy", word -> draft.mig = Words.mig(word));
        flags.word("mpsRoot", word -> draft.mpsRoot = Words.directory(word));
        flags.word("nvidiaDriverRoot", word -> draft.driverRoot = Words.directory(word));
        flags.word("gdrcopyEnabled", word -> draft.extra(Extra.GDRCOPY, Words.flag(word)));
        flags.word("gdsEnabled", word -> draft.extra(Extra.GDS, Words.flag(word)));
        flags.word("mofedEnabled", word -> draft.extra(Extra.MOFED, Words.flag(word)));
        var plugin = flags.section("plugin");
        plugin.word("passDeviceSpecs", word -> draft.passDeviceSpecs = Words.flag(word));
        plugin.words("deviceListStrategy", words -> draft.strategies = Words.strategies(words));
        plugin.word("deviceIDStrategy", word -> draft.names = Words.idNames(word));
        plugin.word("cdiAnnotationPrefix", word -> draft.cdiAnnotationPrefix = word);
        plugin.word("sharedDevicesAllocationPolicy", word -> draft.order = Words.order(word));
        IGNORED_FLAGS.forEach((key, why) -> draft.notes.addAll(flags.ignored(key, why)));
        IGNORED_PLUGIN_FLAGS.forEach((key, why) -> draft.notes.addAll(plugin.ignored(key, why)));
        draft.notes.addAll(plugin.unknown());
        draft.notes.addAll(flags.unknown());
    }

    private void sharing(Section sharing) {
        Plan slicing = plan(sharing.section("timeSlicing"), Means.TIME_SLICING, false);
        Plan mps = plan(sharing.section("mps"), Means.MPS, true);
        if (slicing.isThere() && mps.isThere()) {
            throw sharing.wrong("mps", "timeSlicing shares devices already; remove the resources of one of the two");
        }
        if (slicing.isThere()) {
            slicing.write(draft);
        }
        if (mps.isThere()) {
            mps.write(draft);
        }
        draft.notes.addAll(sharing.unknown());
    }

    private Plan plan(Section section, Means means, boolean failByDefault) {
        var plan = new Plan(means);
        plan.failGreaterThanOne = failByDefault;
        plan.shared = section.sections("resources").stream().map(this::shared).toList();
        section.word("renameByDefault", word -> plan.renameByDefault = Words.flag(word));
        section.word("failRequestsGreaterThanOne", word -> plan.failGreaterThanOne = Words.flag(word));
        draft.notes.addAll(section.unknown());
        return plan;
    }

    /** What one way of sharing says; without resources it says nothing. */
    private static final class Plan {
        private final Means means;
        private boolean renameByDefault;
        private boolean failGreaterThanOne;
        private List<SharedResource> shared = List.of();

        private Plan(Means means) {
            this.means = means;
        }

        private boolean isThere() {
            return !shared.isEmpty();
        }

        private void write(SettingsDraft draft) {
            draft.means = means;
            draft.renameByDefault = renameByDefault;
            draft.failGreaterThanOne = failGreaterThanOne;
            draft.shared = shared;
        }
    }

    private SharedResource shared(Section entry) {
        var read = new Entry();
        for (String key : List.of("name", "replicas")) {
            if (!entry.has(key)) {
                throw entry.missing(key, "write it, for example name: nvidia.com/gpu, replicas: 4");
            }
        }
        entry.word("name", word -> read.name = Words.resource(word));
        entry.word("rename", word -> read.rename = Words.resource(word));
        entry.word("replicas", word -> read.replicas = Words.replicas(word));
        boolean isList = entry.isList("devices");
        entry.words("devices", words -> read.devices = pick(words, isList));
        draft.notes.addAll(entry.unknown());
        return new SharedResource(read.name, read.rename, read.devices, read.replicas);
    }

    private static final class Entry {
        private String name = "";
        private String rename = "";
        private int replicas;
        private Pick devices = new Pick.All();
    }

    /** {@code all}, a count, or a list of indices, MIG indices {@code i:j} and UUIDs. */
    private static Pick pick(List<String> words, boolean isList) {
        if (!isList && words.equals(List.of("all"))) {
            return new Pick.All();
        }
        if (!isList && words.size() == 1 && words.getFirst().matches("[1-9]\\d{0,3}")) {
            return new Pick.First(Integer.parseInt(words.getFirst()));
        }
        boolean names = isList && words.stream().allMatch(word -> word.matches("\\d{1,4}(:\\d{1,2})?|(GPU|MIG)-.+"));
        if (!names || words.isEmpty()) {
            throw new IllegalArgumentException(
                    "it takes all, a count, or a list of GPU indices, MIG indices such as 0:1, and UUIDs");
        }
        return new Pick.Listed(new LinkedHashSet<>(words));
    }
}
