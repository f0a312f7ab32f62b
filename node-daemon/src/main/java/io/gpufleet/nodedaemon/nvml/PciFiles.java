package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** What the kernel says of a PCI device. */
record PciFiles(Path sysfs) {
    /** NUMA node; the kernel writes −1 where the platform names none. */
    Reading<Integer> numaNode(String busId) {
        return switch (read(busId, "numa_node")) {
            case Known<String>(String text) when text.matches("\\d{1,9}") -> new Known<>(Integer.valueOf(text));
            case Known<String> _ -> new Unavailable<>("the platform names none");
            case Unavailable<String>(String reason) -> new Unavailable<>(reason);
        };
    }

    /** {@code compute} for a 3D controller, {@code graphics} for a VGA controller. */
    Reading<String> mode(String busId) {
        return switch (read(busId, "class")) {
            case Known<String>(String text) when text.startsWith("0x0302") -> new Known<>("compute");
            case Known<String>(String text) when text.startsWith("0x0300") -> new Known<>("graphics");
            case Known<String>(String text) -> new Unavailable<>("PCI class " + text);
            case Unavailable<String>(String reason) -> new Unavailable<>(reason);
        };
    }

    private Reading<String> read(String busId, String file) {
        // NVML prints eight digits of domain in upper case, the kernel four in lower case.
        String name = busId.toLowerCase(Locale.ROOT);
        Path path = sysfs.resolve("bus/pci/devices")
                .resolve(name.startsWith("0000") && name.length() > 12 ? name.substring(4) : name)
                .resolve(file);
        try {
            return new Known<>(Files.readString(path).strip());
        } catch (IOException e) {
            return new Unavailable<>(path + ": " + e.getClass().getSimpleName());
        }
    }
}
