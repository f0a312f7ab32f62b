package io.gpufleet.nodedaemon.model.holders;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Device names of NVIDIA's DRA driver:
 *
 * <pre>
 * gpu-&lt;minor&gt;                                            GPU
 * gpu-&lt;minor&gt;-mig-&lt;profile id&gt;-&lt;start&gt;-&lt;size&gt;              MIG device, for example gpu-0-mig-19-4-1
 * gpu-&lt;minor&gt;-mig-&lt;profile name&gt;-&lt;profile id&gt;-&lt;start&gt;      the same in later versions, for example gpu-0-mig-1g5gb-19-4
 * </pre>
 */
record DraDeviceNames(List<Gpu> gpus) {
    private static final Pattern WHOLE = Pattern.compile("gpu-(\\d+)");
    private static final Pattern MIG =
            Pattern.compile("gpu-(\\d+)-mig-(?:(\\d+)-(\\d+)-\\d+|[^-]*[a-z].*-(\\d+)-(\\d+))");

    /** Returns the UUID of the device with the name; the name itself when no device or more than one has it. */
    String uuid(String name) {
        Matcher whole = WHOLE.matcher(name);
        if (whole.matches()) {
            return gpus.stream()
                    .filter(gpu -> whole.group(1)
                            .equals(Integer.toString(gpu.identifiers().minor())))
                    .map(Gpu::uuid)
                    .findFirst()
                    .orElse(name);
        }
        Matcher slice = MIG.matcher(name);
        return slice.matches() ? migUuid(slice, name) : name;
    }

    private String migUuid(Matcher results, String name) {
        boolean sized = results.group(2) != null;
        String position = results.group(sized ? 2 : 4) + "-" + results.group(sized ? 3 : 5);
        List<String> found = gpus.stream()
                .filter(gpu -> results.group(1)
                        .equals(Integer.toString(gpu.identifiers().minor())))
                .flatMap(gpu -> gpu.instances().stream())
                .filter(MigInstance::isWholeGpuInstance)
                .filter(instance -> instance.placement()
                        .map(at -> at.profileId() + "-" + at.start())
                        .orElse("")
                        .equals(position))
                .map(MigInstance::uuid)
                .toList();
        return found.size() == 1 ? found.getFirst() : name;
    }
}
