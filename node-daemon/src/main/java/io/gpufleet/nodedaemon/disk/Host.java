package io.gpufleet.nodedaemon.disk;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.HostFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What the kernel's files say of the node. */
public final class Host {
    private static final Path KERNEL = Path.of("/proc/sys/kernel/osrelease");
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path MACHINE = Path.of("/sys/class/dmi/id/product_name");
    private static final List<String> CONTROL_NODES =
            List.of("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset");

    private Host() {}

    /** Reads them; without a boot id no fault could be told from one of an earlier boot, so that stops the start. */
    public static HostFacts facts(Path bootIdFile, String deviceSource, String version) {
        String bootId = line(bootIdFile);
        if (bootId.isEmpty()) {
            throw new ConfigurationException(
                    "GPUFLEET_BOOT_ID_FILE=" + bootIdFile
                            + " can not be read or is empty: it must hold the boot id, as /proc/sys/kernel/random/boot_id does");
        }
        return new HostFacts(version, deviceSource, line(KERNEL), line(MACHINE), bootId, uptime());
    }

    /** Device nodes that every CUDA program needs, those that are there. */
    public static List<String> controlNodes() {
        var found = new ArrayList<String>();
        CONTROL_NODES.stream().filter(node -> Files.exists(Path.of(node))).forEach(found::add);
        return found;
    }

    /** Device nodes that every CUDA program needs, as a node with a driver has them. */
    public static List<String> usualControlNodes() {
        return CONTROL_NODES.subList(0, 2);
    }

    /** How long the machine is up; for a kernel that does not say, long enough for nothing to be called a transient. */
    private static Duration uptime() {
        try {
            return Duration.ofSeconds((long) Double.parseDouble(line(UPTIME).split(" ", 2)[0]));
        } catch (NumberFormatException unknown) {
            return Duration.ofDays(1);
        }
    }

    private static String line(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException unreadable) {
            return "";
        }
    }
}
