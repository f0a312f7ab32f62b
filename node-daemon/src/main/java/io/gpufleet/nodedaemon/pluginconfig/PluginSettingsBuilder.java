package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.ImexMode;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Mutable settings: file, NVIDIA's variables and our own variables overwrite each other in this order. */
final class PluginSettingsBuilder {
    MigStrategy migStrategy = MigStrategy.NONE;
    SharingMode sharingMode = SharingMode.NONE;
    boolean renameByDefault;
    boolean failGreaterThanOne;
    List<SharedResource> sharedResources = List.of();
    String mpsRoot = SharingSettings.NONE.mpsRoot();
    ReplicaAllocationPolicy replicaPolicy = ReplicaAllocationPolicy.DISTRIBUTED;
    Set<DeviceListStrategy> deviceListStrategies = AllocateSettings.DEFAULT.strategies();
    DeviceIdStrategy deviceIdStrategy = DeviceIdStrategy.UUID;
    boolean passDeviceSpecs;
    final Set<KernelInterface> kernelInterfaces = EnumSet.noneOf(KernelInterface.class);
    boolean imexChannel;
    boolean imexRequired;
    String cdiAnnotationPrefix = AllocateSettings.DEFAULT.cdiAnnotationPrefix();
    String driverRoot;
    boolean libraryPath;
    boolean preStart;
    XidOverrides xidOverrides = XidOverrides.NONE;
    final List<IgnoredSetting> ignoredSettings = new ArrayList<>();

    PluginSettingsBuilder(String driverRoot) {
        this.driverRoot = driverRoot;
    }

    void kernelInterface(KernelInterface kernelInterface, boolean enabled) {
        if (enabled) {
            kernelInterfaces.add(kernelInterface);
        } else {
            kernelInterfaces.remove(kernelInterface);
        }
    }

    /** XIDs that never withdraw a device: {@code all}, {@code xids} (the same here) or numbers. */
    void ignoredXids(List<String> values) {
        boolean all = values.contains("all") || values.contains("xids");
        xidOverrides = new XidOverrides(
                all, xidOverrides.allEnforced(), all ? Set.of() : codes(values), xidOverrides.enforced());
    }

    /** XIDs that always withdraw the device: {@code all} or numbers. */
    void enforcedXids(List<String> values) {
        boolean all = values.contains("all");
        xidOverrides = new XidOverrides(
                xidOverrides.allIgnored(), all, xidOverrides.ignored(), all ? Set.of() : codes(values));
    }

    private static Set<Integer> codes(List<String> numbers) {
        return numbers.stream().map(Integer::valueOf).collect(Collectors.toSet());
    }

    /** Builds the settings; throws {@link IllegalArgumentException} for contradictions. */
    PluginSettings build() {
        var imex = !imexChannel ? ImexMode.OFF : imexRequired ? ImexMode.REQUIRED : ImexMode.OPTIONAL;
        return new PluginSettings(
                migStrategy,
                new SharingSettings(sharingMode, renameByDefault, failGreaterThanOne, sharedResources, mpsRoot),
                replicaPolicy,
                new AllocateSettings(
                        deviceListStrategies,
                        deviceIdStrategy,
                        passDeviceSpecs,
                        kernelInterfaces,
                        imex,
                        cdiAnnotationPrefix,
                        new AllocateSettings.Driver(driverRoot, libraryPath),
                        preStart),
                xidOverrides);
    }
}
