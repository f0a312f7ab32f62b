package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checks drivers, devices and privileges in kernel files.
 *
 * @param root {@code /}, or another directory in tests
 */
public record KernelCheck(Path root) {
    private static final Pattern VERSION = Pattern.compile("\\b\\d{3,}\\.\\d+(?:\\.\\d+)?\\b");
    private static final String NVIDIA = "0x10de";
    /** Display and 3D controllers. */
    private static final String DISPLAY = "0x03";

    private static final int MAX_FILE_BYTES = 16 * 1024;
    private static final long UNKNOWN = -1;
    /** CAP_SYS_ADMIN in the mask of effective capabilities. */
    private static final int SYS_ADMIN = 21;

    /** Number of GPUs on the PCI bus in a sysfs, with or without a driver; -1 where the bus cannot be read. */
    public long pciDevices(Path sys) {
        Path bus = sys.resolve("bus/pci/devices");
        if (!Files.isDirectory(bus)) {
            return UNKNOWN;
        }
        return entries(bus)
                .filter(device -> line(device.resolve("vendor")).equals(NVIDIA))
                .filter(device -> line(device.resolve("class")).startsWith(DISPLAY))
                .count();
    }

    /** Checks the kernel driver and whether the library has the same version. */
    public DoctorFinding driver(DeviceScan scan) {
        String subject = "kernel driver";
        String loaded = line("proc/driver/nvidia/version");
        if (loaded.isEmpty()) {
            return DoctorFinding.fail(
                    subject,
                    "none is loaded (no /proc/driver/nvidia/version)",
                    "load it (modprobe nvidia) or let the driver installer do it; the daemon waits for it and needs no"
                            + " restart");
        }
        Matcher matcher = VERSION.matcher(loaded);
        String version = matcher.find() ? matcher.group() : loaded;
        return switch (scan) {
            case DeviceScan.ScanSucceeded seen
            when !seen.driverVersion().equals(version) ->
                DoctorFinding.warn(
                        subject,
                        version + ", the library is " + seen.driverVersion(),
                        "an upgrade is half done: unload the old driver (touch the hold file first) or reboot");
            case DeviceScan.ScanSucceeded _, DeviceScan.ScanFailed _ -> DoctorFinding.ok(subject, version);
        };
    }

    /** Checks the device nodes without which no container can use a GPU. */
    public DoctorFinding nodes(List<Gpu> gpus) {
        var missing = new ArrayList<String>();
        Stream.concat(
                        Stream.of("nvidiactl", "nvidia-uvm"),
                        gpus.stream().map(gpu -> "nvidia" + gpu.identifiers().minor()))
                .filter(node -> !Files.exists(root.resolve("dev").resolve(node)))
                .forEach(node -> missing.add("/dev/" + node));
        boolean mig = gpus.stream().anyMatch(gpu -> !gpu.instances().isEmpty());
        if (mig && !Files.isDirectory(root.resolve("dev/nvidia-caps"))) {
            missing.add("/dev/nvidia-caps");
        }
        return missing.isEmpty()
                ? DoctorFinding.ok("device nodes", "nvidiactl, nvidia-uvm and " + gpus.size() + " GPUs")
                : DoctorFinding.fail(
                        "device nodes",
                        "missing: " + String.join(", ", missing),
                        "run nvidia-modprobe -u -c 0 on the host, and mount the host's /dev into the pod");
    }

    /** Checks the kernel log, which has faults of GPUs that NVML has lost. */
    public DoctorFinding kernelLog(Path file) {
        Path here = root.resolve(Path.of("/").relativize(file.toAbsolutePath()));
        try (var _ = Files.newByteChannel(here)) {
            return DoctorFinding.ok("kernel log", file + " can be read");
        } catch (IOException refused) {
            return DoctorFinding.warn(
                    "kernel log",
                    file + " cannot be read (" + refused.getClass().getSimpleName() + ")",
                    "run the pod privileged with the host's /dev; without it faults of a lost GPU are noticed late, and"
                            + " NVSwitch faults not at all");
        }
    }

    /** Checks the inotify instances, which other agents of the node may use up. */
    public DoctorFinding inotify() {
        String subject = "inotify";
        String max = line("proc/sys/fs/inotify/max_user_instances");
        if (!max.matches("\\d{1,9}")) {
            return DoctorFinding.warn(subject, "the limit cannot be read", "mount /proc as it is on the host");
        }
        int limit = Integer.parseInt(max);
        long used = inotifyInstances();
        String found = used + " of " + limit + " instances used";
        return used * 10 < limit * 9L
                ? DoctorFinding.ok(subject, found)
                : DoctorFinding.warn(
                        subject,
                        found,
                        "sysctl fs.inotify.max_user_instances=" + limit * 2
                                + "; when they are used up, the daemon polls once a second instead");
    }

    private long inotifyInstances() {
        return processes()
                .flatMap(process -> entries(process.resolve("fd")))
                .filter(KernelCheck::isInotify)
                .count();
    }

    private static boolean isInotify(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals("anon_inode:inotify");
        } catch (IOException gone) {
            return false;
        }
    }

    /** Checks whether the process has the privileges to use devices. */
    public DoctorFinding privileges() {
        String mask = Stream.of(lines(root.resolve("proc/self/status")))
                .filter(line -> line.startsWith("CapEff:"))
                .map(line -> line.substring("CapEff:".length()).strip())
                .findFirst()
                .orElse("0");
        boolean admin = mask.matches("[0-9a-f]{1,16}") && (Long.parseUnsignedLong(mask, 16) >> SYS_ADMIN & 1) == 1;
        return admin
                ? DoctorFinding.ok("privileges", "CAP_SYS_ADMIN")
                : DoctorFinding.warn(
                        "privileges",
                        "no CAP_SYS_ADMIN",
                        "securityContext.privileged: true; the device cgroup may refuse GPUs, and MIG devices of others"
                                + " cannot be watched");
    }

    /** Checks whether processes of other pods are visible. */
    public DoctorFinding processView() {
        String first = line("proc/1/comm");
        boolean own = first.equals("java") || first.equals("node-daemon");
        return own
                ? DoctorFinding.warn(
                        "process view",
                        "only this pod's processes",
                        "hostPID: true; without it processes on GPUs cannot be joined with their pods")
                : DoctorFinding.ok("process view", "the host's (process 1 is " + first + ")");
    }

    private Stream<Path> processes() {
        return entries(root.resolve("proc"))
                .filter(entry -> entry.getFileName().toString().matches("\\d+"));
    }

    private static Stream<Path> entries(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList().stream();
        } catch (IOException notOurs) {
            return Stream.empty();
        }
    }

    private String line(String file) {
        return line(root.resolve(file));
    }

    private static String line(Path file) {
        return lines(file)[0].strip();
    }

    private static String[] lines(Path file) {
        // In one read: a file below /proc/sys is empty in a second read.
        try (var in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_FILE_BYTES), StandardCharsets.UTF_8).split("\n", -1);
        } catch (IOException unreadable) {
            return new String[] {""};
        }
    }
}
