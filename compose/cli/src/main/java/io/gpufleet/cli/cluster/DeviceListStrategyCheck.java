package io.gpufleet.cli.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which device list strategies give a container its GPUs, by the container runtime that a Node reports. */
final class DeviceListStrategyCheck {
    /** For example {@code containerd://2.2.8+unknown} and {@code cri-o://1.34.1}. */
    private static final Pattern VERSION = Pattern.compile("([a-z-]+)://v?(\\d+)\\.(\\d+).*");

    private static final String NVIDIA_RUNTIME = "envvar";

    private DeviceListStrategyCheck() {}

    /** The finding for the nodes of one runtime. */
    static Finding check(String runtime, String strategies, int nodes) {
        String subject = "device list strategy";
        String of = nodes + " nodes with " + runtime + ", strategy " + strategies;
        List<String> chosen =
                Arrays.stream(strategies.split(",", -1)).map(String::strip).toList();
        if (chosen.contains("host-mounts") || chosen.contains("cdi-cri") && readsCdi(runtime)) {
            return Finding.ok(subject, of);
        }
        if (chosen.contains("cdi-cri")) {
            return Finding.fail(
                    subject,
                    of + ": this runtime does not read CDI unless enable_cdi is set in its configuration",
                    "set enable_cdi = true there, or GPUFLEET_DEVICE_LIST_STRATEGY=host-mounts");
        }
        if (chosen.contains(NVIDIA_RUNTIME) || chosen.contains("volume-mounts")) {
            return Finding.warn(
                    subject,
                    of + ": gives GPUs only where NVIDIA's container runtime is the default",
                    "set GPUFLEET_DEVICE_LIST_STRATEGY=" + (readsCdi(runtime) ? "cdi-cri" : "host-mounts")
                            + " where it is not");
        }
        return Finding.ok(subject, of);
    }

    /** CDI is on by default in containerd from 2.0 and in CRI-O from 1.23. */
    private static boolean readsCdi(String runtime) {
        Matcher version = VERSION.matcher(runtime);
        if (!version.matches()) {
            return false;
        }
        int major = Integer.parseInt(version.group(2));
        int minor = Integer.parseInt(version.group(3));
        return switch (version.group(1)) {
            case "containerd" -> major >= 2;
            case "cri-o" -> major > 1 || minor >= 23;
            default -> false;
        };
    }
}
