package io.gpufleet.nodedaemon.sysfs;

import io.gpufleet.nodedaemon.app.device.PciDevices;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * PCI devices in sysfs.
 *
 * @param sysfs {@code /sys}
 * @param driver what NVIDIA's driver says about its devices, {@code /proc/driver/nvidia}
 */
public record SysfsPciDevices(Path sysfs, Path driver) implements PciDevices {
    private static final Pattern EXCLUDED = Pattern.compile("(?m)^GPU Excluded:\\s*Yes\\s*$");
    private static final Pattern ROOT = Pattern.compile("pci([0-9a-f]{4,8}:[0-9a-f]{2})");

    /** Without a file of the driver. */
    public SysfsPciDevices(Path sysfs) {
        this(sysfs, sysfs.resolve("no-driver"));
    }

    /** NUMA node; the kernel writes −1 where the platform names none. */
    @Override
    public Reading<Integer> numaNode(String busId) {
        return switch (read(busId, "numa_node")) {
            case Known<String>(String text) when text.matches("\\d{1,9}") -> new Known<>(Integer.valueOf(text));
            case Known<String> _ -> new Unavailable<>("platform reports none");
            case Unavailable<String>(String reason) -> new Unavailable<>(reason);
        };
    }

    /** {@code compute} for a 3D controller, {@code graphics} for a VGA controller. */
    @Override
    public Reading<String> mode(String busId) {
        return switch (read(busId, "class")) {
            case Known<String>(String text) when text.startsWith("0x0302") -> new Known<>("compute");
            case Known<String>(String text) when text.startsWith("0x0300") -> new Known<>("graphics");
            case Known<String>(String text) -> new Unavailable<>("PCI class " + text);
            case Unavailable<String>(String reason) -> new Unavailable<>(reason);
        };
    }

    /** Addresses of all NVIDIA graphics devices, bound to a driver or not; one that cannot be read counts as one. */
    @Override
    public Reading<List<String>> gpuAddresses() {
        Path devices = sysfs.resolve("bus/pci/devices");
        try (Stream<Path> listed = Files.list(devices)) {
            List<String> all =
                    listed.map(device -> device.getFileName().toString()).toList();
            return all.isEmpty()
                    ? new Unavailable<>(devices + ": no device at all")
                    : new Known<>(all.stream()
                            .filter(busId -> mayMatch(busId, "vendor", "0x10de") && mayMatch(busId, "class", "0x03"))
                            .sorted()
                            .toList());
        } catch (IOException e) {
            return new Unavailable<>(devices + ": " + e.getClass().getSimpleName());
        }
    }

    /**
     * A GPU that a virtual machine or another driver has is none of NVML's, nor is a virtual function or one that the driver's
     * parameter NVreg_ExcludedGpus names.
     */
    @Override
    public Reading<List<String>> boundGpuAddresses() {
        return gpuAddresses()
                .map(all -> all.stream()
                        .filter(busId -> isBoundToNvidia(directory(busId)) && !isExcluded(busId))
                        .toList());
    }

    private static boolean isBoundToNvidia(Path device) {
        Path driver = device.resolve("driver");
        try {
            return Files.isSymbolicLink(driver)
                    && Files.readSymbolicLink(driver).endsWith("nvidia")
                    && !Files.exists(device.resolve("physfn"), LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            // Unbound in between.
            return false;
        }
    }

    private boolean isExcluded(String busId) {
        try {
            return EXCLUDED.matcher(Files.readString(
                            driver.resolve("gpus").resolve(busId).resolve("information")))
                    .find();
        } catch (IOException notSaid) {
            return false;
        }
    }

    private boolean mayMatch(String busId, String file, String begin) {
        return read(busId, file).map(text -> text.startsWith(begin)).orElse(true);
    }

    /** Path to the device, from the root down, in the kernel's tree of devices; the root is its domain and bus. */
    @Override
    public Reading<List<String>> route(String busId) {
        try {
            List<String> route = new ArrayList<>();
            for (Path step : directory(busId).toRealPath()) {
                String name = step.toString();
                Matcher root = ROOT.matcher(name);
                if (root.matches()) {
                    route.add(root.group(1));
                } else if (PciAddress.parse(name).map(PciAddress::sysfs).equals(Optional.of(name))) {
                    route.add(name);
                }
            }
            // The last step is the device itself.
            return route.size() < 2
                    ? new Unavailable<>("no PCI root above the device in sysfs")
                    : new Known<>(List.copyOf(route.subList(0, route.size() - 1)));
        } catch (IOException e) {
            return new Unavailable<>(directory(busId) + ": " + e.getClass().getSimpleName());
        }
    }

    /** Needs privileges: others are shown the first 64 bytes of the configuration space, which do not have it. */
    @Override
    public Reading<VgpuHost> vgpuHost(String busId) {
        Path path = directory(busId).resolve("config");
        try {
            return PciConfigSpace.vgpuHost(Files.readAllBytes(path));
        } catch (IOException e) {
            return new Unavailable<>(path + ": " + e.getClass().getSimpleName());
        }
    }

    private Path directory(String busId) {
        return sysfs.resolve("bus/pci/devices")
                .resolve(PciAddress.parse(busId).map(PciAddress::sysfs).orElse(busId));
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
