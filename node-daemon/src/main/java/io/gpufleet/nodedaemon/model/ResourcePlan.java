package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which devices the kubelet would be told of under which names: a pure function of the GPUs and the settings.
 *
 * @param devices in the order of the GPUs
 * @param complaints what of the settings or of the node's partitioning could not be honoured, one line each
 */
public record ResourcePlan(List<PlannedDevice> devices, List<String> complaints) {
    /** Resource name of whole GPUs. */
    public static final String GPU = "nvidia.com/gpu";

    private static final String MIG_PREFIX = "nvidia.com/mig-";

    /** Copies the lists. */
    public ResourcePlan {
        devices = List.copyOf(devices);
        complaints = List.copyOf(complaints);
    }

    /** The plan for these GPUs. */
    public static ResourcePlan of(List<KnownGpu> gpus, PluginSettings settings) {
        var complaints = new ArrayList<String>();
        List<PlannedDevice> unshared = switch (settings.mig()) {
            case NONE -> none(gpus, complaints);
            case SINGLE -> single(gpus, complaints);
            case MIXED -> mixed(gpus, complaints);
        };
        return new ResourcePlan(new Sharing(settings.sharing(), unshared, complaints).devices(), complaints);
    }

    /** As NVIDIA's plugin does it, but for the word of warning. */
    private static List<PlannedDevice> none(List<KnownGpu> gpus, List<String> complaints) {
        gpus.stream()
                .filter(ResourcePlan::migEnabled)
                .map(known -> "MIG strategy none: GPU " + known.gpu().index()
                        + " has MIG on and is offered whole, of which CUDA uses one instance at most; choose single or"
                        + " mixed, or switch MIG off")
                .forEach(complaints::add);
        return gpus.stream().map(ResourcePlan::whole).toList();
    }

    private static PlannedDevice whole(KnownGpu known) {
        return new PlannedDevice(known.gpu().uuid(), known, new Part.Whole(), GPU, 1);
    }

    private static PlannedDevice slice(KnownGpu known, MigInstance instance, String resource) {
        return new PlannedDevice(instance.uuid(), known, new Part.Slice(instance), resource, 1);
    }

    /** As whole GPUs where MIG is off everywhere; else every instance of the node must be of one profile. */
    private static List<PlannedDevice> single(List<KnownGpu> gpus, List<String> complaints) {
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
            complaints.add("MIG strategy single: MIG is on for " + split.size() + " of " + gpus.size()
                    + " GPUs; switch it on for all, off for all, or choose mixed");
        } else if (profiles.size() > 1) {
            complaints.add("MIG strategy single: instances have the profiles "
                    + profiles.stream().sorted().toList() + "; use one profile, or choose mixed");
        } else if (empty.isPresent()) {
            complaints.add("MIG strategy single: GPU " + empty.get().gpu().index()
                    + " has MIG on and no instance; create instances on it, or switch MIG off");
        } else {
            return split.stream()
                    .flatMap(known -> offered(known, complaints).map(instance -> slice(known, instance, GPU)))
                    .toList();
        }
        return List.of();
    }

    private static List<PlannedDevice> mixed(List<KnownGpu> gpus, List<String> complaints) {
        var devices = new ArrayList<PlannedDevice>();
        for (KnownGpu known : gpus) {
            if (!migEnabled(known)) {
                devices.add(whole(known));
            } else if (known.gpu().instances().isEmpty()) {
                complaints.add("MIG strategy mixed: GPU " + known.gpu().index()
                        + " has MIG on and no instance, nothing of it is offered; create instances on it, or switch MIG"
                        + " off");
            } else {
                offered(known, complaints)
                        .map(instance -> slice(known, instance, MIG_PREFIX + resourceWord(instance.profile())))
                        .forEach(devices::add);
            }
        }
        return devices;
    }

    private static Stream<MigInstance> offered(KnownGpu known, List<String> complaints) {
        return known.gpu().instances().stream().filter(instance -> {
            if (!instance.whole()) {
                complaints.add("MIG instance " + instance.uuid() + " of profile " + instance.profile()
                        + " is part of a GPU instance and not offered; use profiles whose compute slices are all of"
                        + " their GPU instance");
            }
            return instance.whole();
        });
    }

    private static boolean migEnabled(KnownGpu known) {
        return known.gpu().migEnabled().orElse(false);
    }

    /** A resource's name has no plus sign: {@code 1g.10gb+me} is {@code 1g.10gb.me}. */
    private static String resourceWord(String profile) {
        return profile.replace('+', '.');
    }
}
