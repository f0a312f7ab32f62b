package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import io.gpufleet.nodedaemon.model.Injection.Handle;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Imex;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Chooses the injections of a resource by the settings and by what the host has. */
record Injections(AllocateSettings settings, SharePlan sharing, HostNodes host) {
    /** Where images of before NVIDIA's container runtime look for the driver. */
    private static final String DRIVER = "/usr/local/nvidia";

    private static final String VULKAN = "/etc/vulkan/icd.d/nvidia_icd.json";
    private static final String CHANNEL = "0";

    List<Injection> of(String resource) {
        var chosen = new ArrayList<Injection>();
        // In the order of the words, so that what two of them set is always set by the same one.
        for (Strategy strategy : Strategy.values()) {
            if (settings.strategies().contains(strategy)) {
                chosen.add(injection(strategy, resource));
            }
        }
        if (settings.passDeviceSpecs() && !settings.strategies().contains(Strategy.HOST_MOUNTS)) {
            chosen.add(new Injection.ByNodes(nodes(host.control()), List.of(), channelNodes()));
        }
        if (settings.libraryPath() && (settings.cdi() || settings.strategies().contains(Strategy.HOST_MOUNTS))) {
            chosen.add(new Injection.LibraryPath(DRIVER + "/lib64"));
        }
        if (sharing.means() == SharePlan.Means.MPS) {
            chosen.add(Injection.ByMps.of(sharing.mpsFolder(resource), resource));
        }
        return List.copyOf(chosen);
    }

    private Injection injection(Strategy strategy, String resource) {
        return switch (strategy) {
            case ENVVAR -> new Injection.ByEnvironment(environment(true));
            case VOLUME_MOUNTS -> new Injection.ByVolumes(environment(false), channelMarks());
            case CDI_ANNOTATIONS ->
                new Injection.ByCdiAnnotation(
                        Injection.ByCdiAnnotation.key(settings.cdiAnnotationPrefix(), resource), cdiExtras());
            case CDI_CRI -> new Injection.ByCdiField(cdiExtras());
            case HOST_MOUNTS -> new Injection.ByNodes(nodes(host.control()), driver(), extraNodes());
        };
    }

    /** What one device adds. */
    Handle handle(Offer offer) {
        return new Handle(
                offer.part().name(offer.gpu(), settings.names()),
                CdiNames.qualified(CdiNames.of(offer.gpu(), offer.part(), settings.names())),
                nodes(HostNodes.of(offer.gpu(), offer.part())),
                offer.replicas() > 1);
    }

    /** Why no container can be given the device although it is healthy; empty when it can. */
    String trouble(Offer offer) {
        if (settings.imex() == Imex.REQUIRED && host.imex().isEmpty()) {
            return "IMEX channel 0 is required and the host has no /dev/nvidia-caps-imex-channels/channel0; load the"
                    + " nvidia module with NVreg_CreateImexChannel0=1, or set imex.required to false";
        }
        if (!settings.cdi()) {
            return "";
        }
        if (!host.cdi().trouble().isEmpty()) {
            return host.cdi().trouble();
        }
        String name = CdiNames.of(offer.gpu(), offer.part(), settings.names());
        return host.cdi().written().contains(name)
                ? ""
                : "the CDI spec does not have '" + name + "' yet; delete the pod so that it is scheduled again";
    }

    private Map<String, String> environment(boolean channels) {
        var environment = new LinkedHashMap<String, String>();
        settings.extras().forEach(extra -> environment.put("NVIDIA_" + extra.name(), "enabled"));
        if (channels && channel()) {
            environment.put("NVIDIA_IMEX_CHANNELS", CHANNEL);
        }
        return environment;
    }

    private boolean channel() {
        return settings.imex() != Imex.OFF && !host.imex().isEmpty();
    }

    private List<Mount> channelMarks() {
        return channel() ? List.of(Injection.ByVolumes.mark("imex/" + CHANNEL)) : List.of();
    }

    private List<DeviceNode> channelNodes() {
        return channel() ? nodes(host.imex()) : List.of();
    }

    /** Only what the spec has: a name that does not resolve keeps the container from starting. */
    private List<String> cdiExtras() {
        var names = new ArrayList<String>();
        settings.extras().stream().sorted().map(CdiNames::of).forEach(names::add);
        if (channel()) {
            names.add(CdiNames.IMEX);
        }
        return names.stream()
                .filter(host.cdi().written()::contains)
                .map(CdiNames::qualified)
                .toList();
    }

    /** Beside CDI the driver comes by CDI: into a directory that is mounted read-only its files could not be put. */
    private List<Mount> driver() {
        var mounts = new ArrayList<Mount>();
        if (settings.cdi()) {
            return mounts;
        }
        if (!settings.driverRoot().equals("/")) {
            mounts.add(new Mount(settings.driverRoot(), DRIVER));
        }
        if (!host.vulkan().isEmpty()) {
            mounts.add(new Mount(host.vulkan(), VULKAN));
        }
        return mounts;
    }

    private List<DeviceNode> extraNodes() {
        Stream<DeviceNode> extras =
                settings.extras().stream().sorted().flatMap(extra -> nodes(nodesOf(extra)).stream());
        return Stream.concat(extras, channelNodes().stream()).toList();
    }

    private List<String> nodesOf(Extra extra) {
        return switch (extra) {
            case GDRCOPY -> host.gdrcopy();
            case GDS -> host.gds();
            case MOFED -> host.mofed();
        };
    }

    private List<DeviceNode> nodes(List<String> paths) {
        return paths.stream()
                .map(path -> new DeviceNode(host.onHost(path), path, "rw"))
                .toList();
    }
}
