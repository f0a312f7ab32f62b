package io.gpufleet.nodedaemon.nvml;

import static io.gpufleet.nodedaemon.nvml.ControlFileLayout.gpuAt;
import static io.gpufleet.nodedaemon.nvml.ControlFileLayout.isLong;
import static io.gpufleet.nodedaemon.nvml.ControlFileLayout.migAt;
import static io.gpufleet.nodedaemon.nvml.ControlFileLayout.offsetOf;
import static io.gpufleet.nodedaemon.nvml.ControlFileLayout.processAt;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fake libnvidia-ml.so.1 in its own directory, controlled by a test at run time. This process or another one may load it:
 * set GPUFLEET_NVML_LIBRARY to {@link #library()}, or GPUFLEET_DRIVER_ROOT to {@link #driverRoot()}. Starts with healthy H100s
 * and driver 570.124.06.
 */
public final class FakeNvml implements AutoCloseable {
    /** Value of a field that a GPU does not support. */
    public static final int UNSUPPORTED = -1;

    private static final int MAGIC = 0x4c4d564e;
    private static final long UNSUPPORTED_LONG = -1;
    private static final int FIELDS = 304;
    private static final int METRICS = 32;
    private static final int PROCESSES = 64;
    private static final Pattern PROFILE = Pattern.compile("(?:(\\d)c\\.)?(\\d)g\\.(\\d+)gb(\\+me)?");
    private static final int ALL_EVENTS = 0xff9f;

    private final Path driverRoot;
    private final Path library;
    private final ControlMemory memory;

    private FakeNvml(Path driverRoot, Path compiled, String version) {
        this.driverRoot = driverRoot;
        Path directory = driverRoot.resolve("usr/lib64");
        this.library = directory.resolve("libnvidia-ml.so.1");
        try {
            Files.createDirectories(directory);
            Path file = directory.resolve("libnvidia-ml.so." + version);
            Files.copy(compiled, file, StandardCopyOption.REPLACE_EXISTING);
            relink(file);
            memory = ControlMemory.map(directory.resolve("nvml.control"), offsetOf("Control"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        memory.text(offsetOf("Control.driverVersion"), version);
        memory.set(offsetOf("Control.cudaVersion"), 12_080);
        memory.set(offsetOf("Control.magic"), MAGIC);
    }

    /** Installs a library with so many GPUs below a driver root, which may be a temporary directory of the test. */
    public static FakeNvml install(Path driverRoot, int gpus) {
        return new FakeNvml(driverRoot, FakeNvmlBuild.library(), "570.124.06").gpus(gpus);
    }

    /** Installs a library that exports only the older function names. */
    public static FakeNvml installOld(Path driverRoot, int gpus) {
        return new FakeNvml(driverRoot, FakeNvmlBuild.oldLibrary(), "450.80.02").gpus(gpus);
    }

    /** Value of GPUFLEET_NVML_LIBRARY. */
    public Path library() {
        return library;
    }

    /** Value of GPUFLEET_DRIVER_ROOT. */
    public Path driverRoot() {
        return driverRoot;
    }

    /** Adds another version of the library file and links libnvidia-ml.so.1 to it, as an upgrade does. */
    public FakeNvml upgrade(String version) {
        try {
            relink(Files.copy(FakeNvmlBuild.library(), library.resolveSibling("libnvidia-ml.so." + version)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        memory.text(offsetOf("Control.driverVersion"), version);
        return this;
    }

    private void relink(Path file) throws IOException {
        Files.deleteIfExists(library);
        Files.createSymbolicLink(library, file.getFileName());
    }

    /** Sets the number of GPUs; new ones are healthy. */
    public FakeNvml gpus(int count) {
        for (int i = memory.integer(offsetOf("Control.gpuCount")); i < count; i++) {
            healthy(i);
        }
        memory.set(offsetOf("Control.gpuCount"), count);
        return this;
    }

    private void healthy(int i) {
        memory.text(gpuAt(i, "uuid"), uuid(i));
        memory.text(gpuAt(i, "name"), "NVIDIA H100 80GB HBM3");
        memory.text(gpuAt(i, "serial"), "165492200000" + i);
        memory.text(gpuAt(i, "busId"), busId(i));
        memory.text(gpuAt(i, "vbios"), "96.00.74.00.01");
        memory.set(gpuAt(i, "minorNumber"), i);
        memory.set(gpuAt(i, "ccMajor"), 9);
        memory.set(gpuAt(i, "gpuUtil"), 10 + i);
        memory.set(gpuAt(i, "memoryUtil"), 5 + i);
        memory.set(gpuAt(i, "power"), 120_000 + i);
        memory.set(gpuAt(i, "temperature"), 40 + i);
        memory.set(gpuAt(i, "smClock"), 1980);
        memory.set(gpuAt(i, "memoryClock"), 2619);
        memory.set(gpuAt(i, "memoryTotal"), 81_559L << 20);
        memory.set(gpuAt(i, "memoryUsed"), 1L << 30);
        memory.set(gpuAt(i, "energy"), 1_000_000L + i);
        memory.set(gpuAt(i, "clockReasons"), 1L);
        memory.set(gpuAt(i, "eventTypes"), (long) ALL_EVENTS);
        memory.set(gpuAt(i, "pcieGeneration"), 5);
        memory.set(gpuAt(i, "pcieGenerationMax"), 5);
        memory.set(gpuAt(i, "pcieWidth"), 16);
        memory.set(gpuAt(i, "pcieWidthMax"), 16);
        memory.set(gpuAt(i, "pcieSent"), 4000);
        memory.set(gpuAt(i, "pcieReceived"), 2000);
        for (int field = 0; field < FIELDS; field++) {
            memory.set(gpuAt(i, "fields") + 8L * field, UNSUPPORTED_LONG);
        }
        for (int metric = 0; metric < METRICS; metric++) {
            memory.set(gpuAt(i, "metrics") + 8L * metric, -1.0);
        }
        for (int link = 0; link < 18; link++) {
            link(i, link, "switch");
        }
    }

    /** UUID of a GPU. */
    public static String uuid(int gpu) {
        return "GPU-" + new UUID(0x8f1c_0000_0000_4000L, 0x8000_0000_0000_0000L + gpu);
    }

    /** PCI bus id of a GPU. */
    public static String busId(int gpu) {
        return "00000000:%02X:00.0".formatted(7 + 8 * gpu);
    }

    /** Sets a field of a GPU by its name in control.h; {@link #UNSUPPORTED} makes it NOT_SUPPORTED. */
    public FakeNvml gpu(int gpu, String fact, long value) {
        if (isLong(fact)) {
            memory.set(gpuAt(gpu, fact), value);
        } else {
            memory.set(gpuAt(gpu, fact), (int) value);
        }
        return this;
    }

    /** Sets a text of a GPU by its name in control.h; an empty one makes it NOT_SUPPORTED. */
    public FakeNvml gpu(int gpu, String fact, String value) {
        memory.text(gpuAt(gpu, fact), value);
        return this;
    }

    /** Sets one field of nvmlDeviceGetFieldValues; {@link #UNSUPPORTED} makes it NOT_SUPPORTED again. */
    public FakeNvml field(int gpu, int id, long value) {
        memory.set(gpuAt(gpu, "fields") + 8L * id, value);
        return this;
    }

    /** Sets a GPM metric in NVML's unit, percent or MiB/s, and enables GPM on the GPU. */
    public FakeNvml metric(int gpu, int id, double value) {
        memory.set(gpuAt(gpu, "metrics") + 8L * id, value);
        return gpu(gpu, "gpm", 1);
    }

    /**
     * Creates a MIG instance in a slot; MIG mode is set separately.
     *
     * @param profile for example {@code 1g.10gb}; its first digits are the slices
     * @param gpuInstance its GPU instance id; the compute instance id is 0
     */
    public FakeNvml mig(int gpu, int slot, String profile, int gpuInstance) {
        Matcher parts = PROFILE.matcher(profile);
        if (!parts.matches()) {
            throw new IllegalArgumentException(profile + " is not a profile");
        }
        int slices = Integer.parseInt(parts.group(2));
        long at = migAt(gpu, slot);
        memory.set(at + offsetOf("ControlMig.gpuInstance"), gpuInstance);
        memory.set(at + offsetOf("ControlMig.computeInstance"), 0);
        memory.set(at + offsetOf("ControlMig.gpuSlices"), slices);
        memory.set(
                at + offsetOf("ControlMig.computeSlices"),
                parts.group(1) == null ? slices : Integer.parseInt(parts.group(1)));
        memory.set(at + offsetOf("ControlMig.multiprocessors"), 16 * slices);
        memory.set(at + offsetOf("ControlMig.copyEngines"), slices);
        memory.set(at + offsetOf("ControlMig.decoders"), slices);
        memory.set(at + offsetOf("ControlMig.jpegs"), slices);
        memory.set(at + offsetOf("ControlMig.ofas"), parts.group(4) == null ? 0 : 1);
        memory.set(at + offsetOf("ControlMig.profileId"), 20 - slices);
        memory.set(at + offsetOf("ControlMig.placementStart"), slot);
        memory.set(at + offsetOf("ControlMig.placementSize"), slices);
        memory.set(at + offsetOf("ControlMig.memoryMb"), 1024L * Integer.parseInt(parts.group(3)));
        memory.set(at + offsetOf("ControlMig.memoryUsed"), 64L << 20);
        memory.text(at + offsetOf("ControlMig.uuid"), migUuid(gpu, gpuInstance));
        memory.text(at + offsetOf("ControlMig.profile"), profile);
        memory.set(at + offsetOf("ControlMig.used"), 1);
        return this;
    }

    /** Destroys the instance in a slot; its handle becomes invalid. */
    public FakeNvml noMig(int gpu, int slot) {
        memory.set(migAt(gpu, slot) + offsetOf("ControlMig.used"), 0);
        return this;
    }

    /**
     * Starts a compute process on a GPU.
     *
     * @param bytes memory that it has; −1 where the driver does not know
     * @param gpuInstance −1 for a GPU that is not partitioned; the compute instance is 0 otherwise
     * @param mps whether it is a client of MPS
     */
    public FakeNvml process(int gpu, long pid, long bytes, int gpuInstance, boolean mps) {
        for (int slot = 0; slot < PROCESSES; slot++) {
            long at = processAt(gpu, slot);
            if (memory.integer(at + offsetOf("ControlProcess.used")) == 0) {
                memory.set(at + offsetOf("ControlProcess.pid"), (int) pid);
                memory.set(at + offsetOf("ControlProcess.memory"), bytes);
                memory.set(at + offsetOf("ControlProcess.gpuInstance"), gpuInstance);
                memory.set(at + offsetOf("ControlProcess.computeInstance"), gpuInstance == -1 ? -1 : 0);
                memory.set(at + offsetOf("ControlProcess.mps"), mps ? 1 : 0);
                memory.set(at + offsetOf("ControlProcess.used"), 1);
                return this;
            }
        }
        throw new IllegalStateException("no slot for another process");
    }

    /** Starts a compute process on a GPU that is not partitioned. */
    public FakeNvml process(int gpu, long pid, long bytes) {
        return process(gpu, pid, bytes, -1, false);
    }

    /** Ends all processes on the GPU. */
    public FakeNvml noProcesses(int gpu) {
        for (int slot = 0; slot < PROCESSES; slot++) {
            memory.set(processAt(gpu, slot) + offsetOf("ControlProcess.used"), 0);
        }
        return this;
    }

    /** UUID of a MIG instance. */
    public static String migUuid(int gpu, int gpuInstance) {
        return "MIG-" + new UUID(0x5d20_0000_0000_5000L + gpuInstance, 0x8000_0000_0000_0000L + gpu);
    }

    /** Posts a system event: 1 is an unbind, 2 a bind. */
    public FakeNvml systemEvent(long type) {
        long posted = memory.number(offsetOf("Control.systemPosted"));
        memory.set(offsetOf("Control.systemEvents") + posted % 64 * 8, type);
        memory.set(offsetOf("Control.systemPosted"), posted + 1);
        return this;
    }

    /** Sets the peer of an NVLink: "switch", "down" or the index of a GPU. */
    public FakeNvml link(int gpu, int link, String end) {
        int value = switch (end) {
            case "switch" -> 0xfe;
            case "down" -> 0xff;
            default -> Integer.parseInt(end);
        };
        memory.set(gpuAt(gpu, "link") + 4L * link, value);
        return this;
    }

    /** Makes each call about an NVLink return a code; 0 makes it answer again. */
    public FakeNvml linkFails(int gpu, int link, int code) {
        memory.set(gpuAt(gpu, "linkFails") + 4L * link, code);
        return this;
    }

    /** Attaches a GPU to a fabric. */
    public FakeNvml fabric(int gpu, UUID cluster, int clique) {
        for (int i = 0; i < 8; i++) {
            memory.set(gpuAt(gpu, "clusterUuid") + i, (byte) (cluster.getMostSignificantBits() >> (56 - 8 * i)));
            memory.set(gpuAt(gpu, "clusterUuid") + 8 + i, (byte) (cluster.getLeastSignificantBits() >> (56 - 8 * i)));
        }
        return gpu(gpu, "cliqueId", clique).gpu(gpu, "fabricState", 3);
    }

    /** Makes the GPU lost, or present again. */
    public FakeNvml lost(int gpu, boolean lost) {
        return gpu(gpu, "lost", lost ? 1 : 0);
    }

    /** Posts an XID event of a GPU. */
    public FakeNvml xid(int gpu, int xid) {
        return event(gpu, 0x8, xid, -1);
    }

    /** Posts an event; an instance of −1 is the whole GPU. */
    public FakeNvml event(int gpu, long type, long data, int instance) {
        long posted = memory.number(offsetOf("Control.posted"));
        long at = offsetOf("Control.events") + posted % 256 * offsetOf("Event");
        memory.set(at + offsetOf("Event.gpu"), gpu);
        memory.set(at + offsetOf("Event.gpuInstance"), instance);
        memory.set(at + offsetOf("Event.computeInstance"), instance == -1 ? -1 : 0);
        memory.set(at + offsetOf("Event.type"), type);
        memory.set(at + offsetOf("Event.data"), data);
        memory.set(offsetOf("Control.posted"), posted + 1);
        return this;
    }

    /** Makes a function return a code, for one GPU, or for all with −1. */
    public FakeNvml fail(String function, int gpu, int code) {
        return rule(function, gpu, code, false);
    }

    /** Makes a function hang until the rules are cleared, for one GPU, or for all with −1. */
    public FakeNvml hang(String function, int gpu) {
        return rule(function, gpu, 0, true);
    }

    private FakeNvml rule(String function, int gpu, int code, boolean hang) {
        for (int i = 0; i < 32; i++) {
            long at = offsetOf("Control.rules") + (long) i * offsetOf("Rule");
            if (memory.integer(at + offsetOf("Rule.used")) == 0) {
                memory.text(at + offsetOf("Rule.call"), function);
                memory.set(at + offsetOf("Rule.gpu"), gpu);
                memory.set(at + offsetOf("Rule.code"), code);
                memory.set(at + offsetOf("Rule.hang"), hang ? 1 : 0);
                memory.set(at + offsetOf("Rule.used"), 1);
                return this;
            }
        }
        throw new IllegalStateException("no room for another rule");
    }

    /** Removes the rules of one function; its hanging calls return. */
    public FakeNvml clearRules(String function) {
        for (int i = 0; i < 32; i++) {
            long at = offsetOf("Control.rules") + (long) i * offsetOf("Rule");
            if (memory.text(at + offsetOf("Rule.call")).equals(function)) {
                memory.set(at + offsetOf("Rule.used"), 0);
            }
        }
        return this;
    }

    /** Removes all rules; hanging calls return. */
    public FakeNvml clearRules() {
        for (int i = 0; i < 32; i++) {
            memory.set(offsetOf("Control.rules") + (long) i * offsetOf("Rule") + offsetOf("Rule.used"), 0);
        }
        return this;
    }

    /** A counter of the library, by its name in control.h, for example {@code hanging}. */
    public int counter(String name) {
        return memory.integer(offsetOf("Control." + name));
    }

    @Override
    public void close() {
        // The library keeps the file mapped; hanging calls must not hang forever.
        clearRules();
        memory.close();
    }
}
