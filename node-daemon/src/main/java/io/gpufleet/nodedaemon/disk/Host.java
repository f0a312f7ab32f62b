package io.gpufleet.nodedaemon.disk;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.HostFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** What the kernel's files say of the node. */
public final class Host {
    private static final Path KERNEL = Path.of("/proc/sys/kernel/osrelease");
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path MACHINE = Path.of("/sys/class/dmi/id/product_name");

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
