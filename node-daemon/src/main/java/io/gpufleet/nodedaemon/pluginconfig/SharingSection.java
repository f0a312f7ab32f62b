package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Settings of one sharing mode as they are read; ignored without resources. */
final class SharingSection {
    private final SharingMode mode;
    boolean renameByDefault;
    boolean failGreaterThanOne;
    private List<SharedResource> resources = List.of();

    /** A shared resource as it is read. */
    static final class Entry {
        String name = "";
        String rename = "";
        int replicas;
        DeviceSelector devices = new DeviceSelector.All();
    }

    /** Reads a section. */
    SharingSection(SharingMode mode, YamlSection section, Consumer<IgnoredSetting> ignored) {
        this.mode = mode;
        this.failGreaterThanOne = mode == SharingMode.MPS;
        var read = new ArrayList<SharedResource>();
        for (YamlSection entry : section.sections("resources")) {
            read.add(resource(entry, ignored));
        }
        this.resources = List.copyOf(read);
        PluginKeys.SHARING.read(section, this, ignored);
    }

    private static SharedResource resource(YamlSection section, Consumer<IgnoredSetting> ignored) {
        for (String key : List.of("name", "replicas")) {
            if (!section.has(key)) {
                throw section.missing(key, "write it, for example name: nvidia.com/gpu, replicas: 4");
            }
        }
        var entry = new Entry();
        PluginKeys.SHARED_RESOURCE.read(section, entry, ignored);
        return new SharedResource(entry.name, entry.rename, entry.devices, entry.replicas);
    }

    boolean isPresent() {
        return !resources.isEmpty();
    }

    void write(PluginSettingsBuilder settings) {
        settings.sharingMode = mode;
        settings.renameByDefault = renameByDefault;
        settings.failGreaterThanOne = failGreaterThanOne;
        settings.sharedResources = resources;
    }
}
