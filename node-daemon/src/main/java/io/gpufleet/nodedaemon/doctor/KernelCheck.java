package io.gpufleet.nodedaemon.doctor;

import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
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
 * What the kernel shows of drivers, devices and rights.
 *
 * @param root {@code /}; a test has another
 */
public record KernelCheck(Path root) {
    private static final Pattern VERSION = Pattern.compile("\\b\\d{3,}\\.\\d+(?:\\.\\d+)?\\b");
    private static final String NVIDIA = "0x10de";
    /** Display and 3D controllers. */
    private static final String DISPLAY = "0x03";

    private static final int LONGEST_FILE = 16 * 1024;
    private static final long UNKNOWN = -1;
    /** CAP_SYS_ADMIN in the mask of effective capabilities. */
    private static final int SYS_ADMIN = 21;

    /** GPUs on the PCI bus, with or without a driver; -1 where the bus can not be looked at. */
    public long pciDevices() {
        Path bus = root.resolve("sys/bus/pci/devices");
        if (!Files.isDirectory(bus)) {
            return UNKNOWN;
        }
        return entries(bus)
                .filter(device -> line("sys/bus/pci/devices/" + device.getFileName() + "/vendor")
                        .equals(NVIDIA))
                .filter(device -> line("sys/bus/pci/devices/" + device.getFileName() + "/class")
                        .startsWith(DISPLAY))
                .count();
    }

    /** The kernel driver, and whether the library that answered is of the same version. */
    public Finding driver(Look look) {
        String subject = "kernel driver";
        String loaded = line("proc/driver/nvidia/version");
        if (loaded.isEmpty()) {
            return Finding.fail(
                    subject,
                    "none is loaded (no /proc/driver/nvidia/version)",
                    "load it (modprobe nvidia) or let the driver installer do it; the daemon waits for it and needs no"
                            + " restart");
        }
        Matcher matcher = VERSION.matcher(loaded);
        String version = matcher.find() ? matcher.group() : loaded;
        return switch (look) {
            case Look.Seen seen
            when !seen.driverVersion().equals(version) ->
                Finding.warn(
                        subject,
                        version + ", the library says " + seen.driverVersion(),
                        "an upgrade is half done: unload the old driver (touch the hold file first) or reboot");
            case Look.Seen _, Look.Blind _ -> Finding.ok(subject, version);
        };
    }

    /** Device nodes without which no container can use a GPU. */
    public Finding nodes(List<Gpu> gpus) {
        var missing = new ArrayList<String>();
        Stream.concat(Stream.of("nvidiactl", "nvidia-uvm"), gpus.stream().map(gpu -> "nvidia" + gpu.minor()))
                .filter(node -> !Files.exists(root.resolve("dev").resolve(node)))
                .forEach(node -> missing.add("/dev/" + node));
        boolean mig = gpus.stream().anyMatch(gpu -> !gpu.instances().isEmpty());
        if (mig && !Files.isDirectory(root.resolve("dev/nvidia-caps"))) {
            missing.add("/dev/nvidia-caps");
        }
        return missing.isEmpty()
                ? Finding.ok("device nodes", "nvidiactl, nvidia-uvm and " + gpus.size() + " GPUs")
                : Finding.fail(
                        "device nodes",
                        "missing: " + String.join(", ", missing),
                        "run nvidia-modprobe -u -c 0 on the host, and mount the host's /dev into the pod");
    }

    /** The kernel log, which still tells of a GPU that NVML has lost. */
    public Finding kernelLog(Path file) {
        Path here = root.resolve(Path.of("/").relativize(file.toAbsolutePath()));
        try (var _ = Files.newByteChannel(here)) {
            return Finding.ok("kernel log", file + " can be read");
        } catch (IOException refused) {
            return Finding.warn(
                    "kernel log",
                    file + " can not be read (" + refused.getClass().getSimpleName() + ")",
                    "run the pod privileged with the host's /dev; without it faults of a lost GPU are noticed late, and"
                            + " NVSwitch faults not at all");
        }
    }

    /** Instances of inotify, which other agents of the node use up. */
    public Finding inotify() {
        String subject = "inotify";
        String most = line("proc/sys/fs/inotify/max_user_instances");
        if (!most.matches("\\d{1,9}")) {
            return Finding.warn(subject, "the limit can not be read", "mount /proc as it is on the host");
        }
        int limit = Integer.parseInt(most);
        long used = instances();
        String found = used + " of " + limit + " instances used";
        return used * 10 < limit * 9L
                ? Finding.ok(subject, found)
                : Finding.warn(
                        subject,
                        found,
                        "sysctl fs.inotify.max_user_instances=" + limit * 2
                                + "; when they are used up, the daemon looks once a second instead");
    }

    private long instances() {
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

    /** Whether the process may use the devices at all. */
    public Finding rights() {
        String mask = Stream.of(lines("proc/self/status"))
                .filter(line -> line.startsWith("CapEff:"))
                .map(line -> line.substring("CapEff:".length()).strip())
                .findFirst()
                .orElse("0");
        boolean admin = mask.matches("[0-9a-f]{1,16}") && (Long.parseUnsignedLong(mask, 16) >> SYS_ADMIN & 1) == 1;
        return admin
                ? Finding.ok("privileges", "CAP_SYS_ADMIN")
                : Finding.warn(
                        "privileges",
                        "no CAP_SYS_ADMIN",
                        "securityContext.privileged: true; the device cgroup may refuse GPUs, and MIG devices of others"
                                + " can not be watched");
    }

    /** Whether processes of other pods can be seen. */
    public Finding processView() {
        String first = line("proc/1/comm");
        boolean own = first.equals("java") || first.equals("node-daemon");
        return own
                ? Finding.warn(
                        "process view",
                        "only this pod's processes",
                        "hostPID: true; without it processes on GPUs can not be joined with their pods")
                : Finding.ok("process view", "the host's (process 1 is " + first + ")");
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
        return lines(file)[0].strip();
    }

    private String[] lines(String file) {
        // In one read: a number below /proc/sys has no second half for those who come again.
        try (var in = Files.newInputStream(root.resolve(file))) {
            return new String(in.readNBytes(LONGEST_FILE), StandardCharsets.UTF_8).split("\n", -1);
        } catch (IOException unreadable) {
            return new String[] {""};
        }
    }
}
