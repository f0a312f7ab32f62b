package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.VgpuHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the kernel says of a PCI device. */
record PciFiles(Path sysfs) {
    private static final Pattern ROOT = Pattern.compile("pci([0-9a-f]{4,8}:[0-9a-f]{2})");
    private static final Pattern ADDRESS = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

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

    /** Addresses of all NVIDIA graphics devices, whether a driver has them or not; one that can not be read may be one. */
    Reading<List<String>> graphics() {
        Path devices = sysfs.resolve("bus/pci/devices");
        try (Stream<Path> listed = Files.list(devices)) {
            List<String> all =
                    listed.map(device -> device.getFileName().toString()).toList();
            return all.isEmpty()
                    ? new Unavailable<>(devices + ": no device at all")
                    : new Known<>(all.stream()
                            .filter(busId -> may(busId, "vendor", "0x10de") && may(busId, "class", "0x03"))
                            .sorted()
                            .toList());
        } catch (IOException e) {
            return new Unavailable<>(devices + ": " + e.getClass().getSimpleName());
        }
    }

    private boolean may(String busId, String file, String begin) {
        return read(busId, file).map(text -> text.startsWith(begin)).orElse(true);
    }

    /** What is above the device, from the root down, by the kernel's tree of devices; the root is its domain and bus. */
    Reading<List<String>> route(String busId) {
        try {
            List<String> route = new ArrayList<>();
            for (Path step : directory(busId).toRealPath()) {
                Matcher root = ROOT.matcher(step.toString());
                if (root.matches()) {
                    route.add(root.group(1));
                } else if (ADDRESS.matcher(step.toString()).matches()) {
                    route.add(step.toString());
                }
            }
            // The last step is the device itself.
            return route.size() < 2
                    ? new Unavailable<>("the kernel shows it below no PCI root")
                    : new Known<>(List.copyOf(route.subList(0, route.size() - 1)));
        } catch (IOException e) {
            return new Unavailable<>(directory(busId) + ": " + e.getClass().getSimpleName());
        }
    }

    /** Needs privileges: others are shown the first 64 bytes of the configuration space, which do not have it. */
    Reading<VgpuHost> vgpuHost(String busId) {
        Path path = directory(busId).resolve("config");
        try {
            return PciConfig.vgpuHost(Files.readAllBytes(path));
        } catch (IOException e) {
            return new Unavailable<>(path + ": " + e.getClass().getSimpleName());
        }
    }

    private Path directory(String busId) {
        // NVML prints eight digits of domain in upper case, the kernel four in lower case.
        String name = busId.toLowerCase(Locale.ROOT);
        return sysfs.resolve("bus/pci/devices")
                .resolve(name.startsWith("0000") && name.length() > 12 ? name.substring(4) : name);
    }

    private Reading<String> read(String busId, String file) {
        Path path = directory(busId).resolve(file);
        try {
            return new Known<>(Files.readString(path).strip());
        } catch (IOException e) {
            return new Unavailable<>(path + ": " + e.getClass().getSimpleName());
        }
    }
}
