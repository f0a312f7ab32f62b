package io.gpufleet.nodedaemon.model;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * NVIDIA's DRA driver has names of its own for devices: {@code gpu-<minor>} for a GPU; for a MIG device its GPU, the id of
 * its profile and where it begins, with the size after them, {@code gpu-0-mig-19-4-1}, or in later versions with the profile's
 * name before them, {@code gpu-0-mig-1g5gb-19-4}.
 */
record ClaimNames(List<Gpu> gpus) {
    private static final Pattern WHOLE = Pattern.compile("gpu-(\\d+)");
    private static final Pattern SLICE =
            Pattern.compile("gpu-(\\d+)-mig-(?:(\\d+)-(\\d+)-\\d+|[^-]*[a-z].*-(\\d+)-(\\d+))");

    /** The UUID of the device with the name; the name itself where no device or more than one has it. */
    String uuid(String name) {
        Matcher whole = WHOLE.matcher(name);
        if (whole.matches()) {
            return gpus.stream()
                    .filter(gpu -> whole.group(1).equals(Integer.toString(gpu.minor())))
                    .map(Gpu::uuid)
                    .findFirst()
                    .orElse(name);
        }
        Matcher slice = SLICE.matcher(name);
        return slice.matches() ? slice(slice, name) : name;
    }

    private String slice(Matcher words, String name) {
        boolean sized = words.group(2) != null;
        String place = words.group(sized ? 2 : 4) + "-" + words.group(sized ? 3 : 5);
        List<String> found = gpus.stream()
                .filter(gpu -> words.group(1).equals(Integer.toString(gpu.minor())))
                .flatMap(gpu -> gpu.instances().stream())
                .filter(MigInstance::whole)
                .filter(instance -> instance.placement()
                        .map(at -> at.profileId() + "-" + at.start())
                        .orElse("")
                        .equals(place))
                .map(MigInstance::uuid)
                .toList();
        return found.size() == 1 ? found.getFirst() : name;
    }
}
