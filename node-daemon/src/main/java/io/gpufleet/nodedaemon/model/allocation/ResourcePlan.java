package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The devices to offer, by resource name and id: a pure function of the GPUs and the settings.
 *
 * @param devices in the order of the GPUs
 * @param warnings settings that cannot be applied to this node's GPUs, one line each
 */
public record ResourcePlan(List<PlannedDevice> devices, List<String> warnings) {
    /** Resource name of whole GPUs. */
    public static final String GPU = "nvidia.com/gpu";

    private static final String MIG_PREFIX = "nvidia.com/mig-";

    /** Copies the lists. */
    public ResourcePlan {
        devices = List.copyOf(devices);
        warnings = List.copyOf(warnings);
    }

    /** Makes the plan for these GPUs. */
    public static ResourcePlan of(List<KnownGpu> gpus, PluginSettings settings) {
        var warnings = new ArrayList<String>();
        List<PlannedDevice> unshared = switch (settings.mig()) {
            case NONE -> none(gpus, warnings);
            case SINGLE -> single(gpus, warnings);
            case MIXED -> mixed(gpus, warnings);
        };
        return new ResourcePlan(new DeviceReplicator(settings.sharing(), unshared, warnings).replicate(), warnings);
    }

    /** As NVIDIA's plugin does, but with a warning. */
    private static List<PlannedDevice> none(List<KnownGpu> gpus, List<String> warnings) {
        gpus.stream()
                .filter(ResourcePlan::migEnabled)
                .map(known -> "MIG strategy none: GPU " + known.gpu().index()
                        + " has MIG on and is offered whole, of which CUDA uses one instance at most; choose single or"
                        + " mixed, or switch MIG off")
                .forEach(warnings::add);
        return gpus.stream().map(ResourcePlan::whole).toList();
    }

    private static PlannedDevice whole(KnownGpu known) {
        return new PlannedDevice(known.gpu().uuid(), known, new GpuPartition.FullGpu(), GPU, 1);
    }

    private static PlannedDevice migDevice(KnownGpu known, MigInstance instance, String resource) {
        return new PlannedDevice(instance.uuid(), known, new GpuPartition.Mig(instance), resource, 1);
    }

    /** Whole GPUs when MIG is off everywhere; else every instance of the node must have the same profile. */
    private static List<PlannedDevice> single(List<KnownGpu> gpus, List<String> warnings) {
        List<KnownGpu> split = gpus.stream().filter(ResourcePlan::migEnabled).toList();
        if (split.isEmpty()) {
            return gpus.stream().map(ResourcePlan::whole).toList();
        }
        Set<String> profiles = split.stream()
                .flatMap(known -> known.gpu().instances().stream())
                .map(MigInstance::profile)
                .collect(Collectors.toSet());
        Optional<KnownGpu> empty = split.stream()
                .filter(known -> known.gpu().instances().isEmpty())
                .findFirst();
        if (split.size() < gpus.size()) {
            warnings.add("MIG strategy single: MIG is on for " + split.size() + " of " + gpus.size()
                    + " GPUs; switch it on for all, off for all, or choose mixed");
        } else if (profiles.size() > 1) {
            warnings.add("MIG strategy single: instances have the profiles "
                    + profiles.stream().sorted().toList() + "; use one profile, or choose mixed");
        } else if (empty.isPresent()) {
            warnings.add("MIG strategy single: GPU " + empty.get().gpu().index()
                    + " has MIG on and no instance; create instances on it, or switch MIG off");
        } else {
            return split.stream()
                    .flatMap(known -> offered(known, warnings).map(instance -> migDevice(known, instance, GPU)))
                    .toList();
        }
        return List.of();
    }

    private static List<PlannedDevice> mixed(List<KnownGpu> gpus, List<String> warnings) {
        var devices = new ArrayList<PlannedDevice>();
        for (KnownGpu known : gpus) {
            if (!migEnabled(known)) {
                devices.add(whole(known));
            } else if (known.gpu().instances().isEmpty()) {
                warnings.add("MIG strategy mixed: GPU " + known.gpu().index()
                        + " has MIG on and no instance, nothing of it is offered; create instances on it, or switch MIG"
                        + " off");
            } else {
                offered(known, warnings)
                        .map(instance -> migDevice(known, instance, MIG_PREFIX + resourceSuffix(instance.profile())))
                        .forEach(devices::add);
            }
        }
        return devices;
    }

    private static Stream<MigInstance> offered(KnownGpu known, List<String> warnings) {
        return known.gpu().instances().stream().filter(instance -> {
            if (!instance.isWholeGpuInstance()) {
                warnings.add("MIG instance " + instance.uuid() + " of profile " + instance.profile()
                        + " is part of a GPU instance and not offered; use profiles whose compute slices are all of"
                        + " their GPU instance");
            }
            return instance.isWholeGpuInstance();
        });
    }

    private static boolean migEnabled(KnownGpu known) {
        return known.gpu().mig().enabled().orElse(false);
    }

    /** Returns the profile for a resource name, which allows no plus sign: {@code 1g.10gb+me} is {@code 1g.10gb.me}. */
    private static String resourceSuffix(String profile) {
        return profile.replace('+', '.');
    }
}
