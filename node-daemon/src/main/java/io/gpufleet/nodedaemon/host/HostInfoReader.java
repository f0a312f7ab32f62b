package io.gpufleet.nodedaemon.host;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Reads properties of the node from kernel files. */
public final class HostInfoReader {
    private static final Path KERNEL = Path.of("/proc/sys/kernel/osrelease");
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path MACHINE = Path.of("/sys/class/dmi/id/product_name");

    private HostInfoReader() {}

    /** Reads them. A missing boot id stops the start, since faults of an earlier boot could not be recognised. */
    public static HostInfo read(Path bootIdFile, String deviceSource, String version) {
        String bootId = line(bootIdFile);
        if (bootId.isEmpty()) {
            throw new ConfigurationException("GPUFLEET_BOOT_ID_FILE=" + bootIdFile
                    + " cannot be read or is empty: it must hold the boot id, as /proc/sys/kernel/random/boot_id does");
        }
        return new HostInfo(version, deviceSource, line(KERNEL), line(MACHINE), bootId, uptime());
    }

    /** Uptime of the machine; a day where it is unknown, so that nothing counts as a transient of the boot. */
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
