package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.DeviceNode;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import io.gpufleet.nodedaemon.model.allocation.DeviceInjection.InjectedDevice;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.ImexMode;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Selects the injections of a resource by the settings and the host's device nodes. */
record InjectionSelector(AllocateSettings settings, SharingSettings sharing, HostDeviceNodes host) {
    /** The driver directory of images from before NVIDIA's container runtime. */
    private static final String DRIVER = "/usr/local/nvidia";

    private static final String VULKAN = "/etc/vulkan/icd.d/nvidia_icd.json";
    private static final String IMEX_CHANNEL = "0";

    List<DeviceInjection> of(String resource) {
        var chosen = new ArrayList<DeviceInjection>();
        // In enum order, so that an entry that two strategies add always comes from the same one.
        for (DeviceListStrategy strategy : DeviceListStrategy.values()) {
            if (settings.strategies().contains(strategy)) {
                chosen.add(injection(strategy, resource));
            }
        }
        if (settings.strategies().contains(DeviceListStrategy.HOST_MOUNTS)) {
            chosen.add(new DeviceInjection.NoVisibleDevices());
        }
        if (settings.passDeviceSpecs() && !settings.strategies().contains(DeviceListStrategy.HOST_MOUNTS)) {
            chosen.add(new DeviceInjection.ByDeviceNodes(nodes(host.control()), List.of(), imexNodes()));
        }
        if (settings.driver().libraryPath()
                && (settings.usesCdi() || settings.strategies().contains(DeviceListStrategy.HOST_MOUNTS))) {
            chosen.add(new DeviceInjection.LibraryPath(DRIVER + "/lib64"));
        }
        if (sharing.mode() == SharingSettings.SharingMode.MPS) {
            chosen.add(DeviceInjection.ByMps.of(sharing.mpsDirectory(resource), resource));
        }
        return List.copyOf(chosen);
    }

    private DeviceInjection injection(DeviceListStrategy strategy, String resource) {
        return switch (strategy) {
            case ENVVAR -> new DeviceInjection.ByEnvironment(environment(true));
            case VOLUME_MOUNTS -> new DeviceInjection.ByVolumes(environment(false), imexMounts());
            case CDI_ANNOTATIONS ->
                new DeviceInjection.ByCdiAnnotation(
                        DeviceInjection.ByCdiAnnotation.key(settings.cdiAnnotationPrefix(), resource),
                        cdiExtras(),
                        environment(false));
            case CDI_CRI -> new DeviceInjection.ByCdiField(cdiExtras(), environment(false));
            case HOST_MOUNTS -> new DeviceInjection.ByDeviceNodes(nodes(host.control()), driver(), extraNodes());
        };
    }

    /** Returns the names of one device. */
    InjectedDevice injectedDevice(OfferedDevice offer) {
        return new InjectedDevice(
                offer.partition().name(offer.gpu(), settings.deviceIdStrategy()),
                CdiNames.qualified(CdiNames.of(offer.gpu(), offer.partition(), settings.deviceIdStrategy())),
                nodes(HostDeviceNodes.of(offer.gpu(), offer.partition())),
                offer.replicas() > 1);
    }

    /** Returns why the device cannot be allocated although it is healthy; empty when it can. */
    String problem(OfferedDevice offer) {
        if (settings.imex() == ImexMode.REQUIRED && host.imex().isEmpty()) {
            return "IMEX channel 0 is required and the host has no /dev/nvidia-caps-imex-channels/channel0; load the"
                    + " nvidia module with NVreg_CreateImexChannel0=1, or set imex.required to false";
        }
        if (!settings.usesCdi()) {
            return "";
        }
        if (!host.cdi().problem().isEmpty()) {
            return host.cdi().problem();
        }
        String name = CdiNames.of(offer.gpu(), offer.partition(), settings.deviceIdStrategy());
        return host.cdi().written().contains(name)
                ? ""
                : "the CDI spec does not have '" + name + "' yet; delete the pod so that it is scheduled again";
    }

    private Map<String, String> environment(boolean channels) {
        var environment = new LinkedHashMap<String, String>();
        settings.kernelInterfaces().forEach(extra -> environment.put("NVIDIA_" + extra.name(), "enabled"));
        if (channels && hasImexChannel()) {
            environment.put("NVIDIA_IMEX_CHANNELS", IMEX_CHANNEL);
        }
        return environment;
    }

    private boolean hasImexChannel() {
        return settings.imex() != ImexMode.OFF && !host.imex().isEmpty();
    }

    private List<Mount> imexMounts() {
        return hasImexChannel() ? List.of(DeviceInjection.ByVolumes.deviceMount("imex/" + IMEX_CHANNEL)) : List.of();
    }

    private List<DeviceNode> imexNodes() {
        return hasImexChannel() ? nodes(host.imex()) : List.of();
    }

    /** Returns only names that the spec has: an unresolvable name prevents the container's start. */
    private List<String> cdiExtras() {
        var names = new ArrayList<String>();
        settings.kernelInterfaces().stream().sorted().map(CdiNames::of).forEach(names::add);
        if (hasImexChannel()) {
            names.add(CdiNames.IMEX);
        }
        return names.stream()
                .filter(host.cdi().written()::contains)
                .map(CdiNames::qualified)
                .toList();
    }

    /** With CDI the driver is injected by CDI, which cannot put files into a directory that is mounted read-only. */
    private List<Mount> driver() {
        var mounts = new ArrayList<Mount>();
        if (settings.usesCdi()) {
            return mounts;
        }
        if (settings.driver().root().equals("/")) {
            mounts.addAll(host.driver().files());
        } else {
            mounts.add(new Mount(settings.driver().root(), DRIVER));
        }
        if (!host.driver().vulkan().isEmpty()) {
            mounts.add(new Mount(host.driver().vulkan(), VULKAN));
        }
        return mounts;
    }

    private List<DeviceNode> extraNodes() {
        Stream<DeviceNode> extras =
                settings.kernelInterfaces().stream().sorted().flatMap(extra -> nodes(nodesOf(extra)).stream());
        return Stream.concat(extras, imexNodes().stream()).toList();
    }

    private List<String> nodesOf(KernelInterface extra) {
        return switch (extra) {
            case GDRCOPY -> host.gdrcopy();
            case GDS -> host.gds();
            case MOFED -> host.mofed();
        };
    }

    private List<DeviceNode> nodes(List<String> paths) {
        return paths.stream()
                .map(path -> new DeviceNode(host.hostPath(path), path, "rw"))
                .toList();
    }
}
