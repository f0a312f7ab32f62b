package io.gpufleet.nodedaemon.nvml;

import static io.gpufleet.nodedaemon.nvml.ControlLayout.at;
import static io.gpufleet.nodedaemon.nvml.ControlLayout.gpuAt;
import static io.gpufleet.nodedaemon.nvml.ControlLayout.isLong;
import static io.gpufleet.nodedaemon.nvml.ControlLayout.migAt;
import static io.gpufleet.nodedaemon.nvml.ControlLayout.processAt;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A libnvidia-ml.so.1 in a directory of its own, told by a test at run time what to answer. It may be loaded into this
 * process or into another one: name {@link #library()} in GPUFLEET_NVML_LIBRARY, or its {@link #driverRoot()} in
 * GPUFLEET_DRIVER_ROOT. Starts as healthy H100s with driver 570.124.06.
 */
public final class StandInNvml implements AutoCloseable {
    /** Value of a fact that a GPU does not have. */
    public static final int UNSUPPORTED = -1;

    private static final int MAGIC = 0x4c4d564e;
    private static final long UNSUPPORTED_LONG = -1;
    private static final int FIELDS = 304;
    private static final int METRICS = 32;
    private static final int PROCESSES = 64;
    private static final Pattern PROFILE = Pattern.compile("(?:(\\d)c\\.)?(\\d)g\\.(\\d+)gb(\\+me)?");
    private static final int ALL_EVENTS = 0xff9f;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final Path driverRoot;
    private final Path library;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    private StandInNvml(Path driverRoot, Path compiled, String version) {
        this.driverRoot = driverRoot;
        Path directory = driverRoot.resolve("usr/lib64");
        this.library = directory.resolve("libnvidia-ml.so.1");
        try {
            Files.createDirectories(directory);
            Path file = directory.resolve("libnvidia-ml.so." + version);
            Files.copy(compiled, file, StandardCopyOption.REPLACE_EXISTING);
            relink(file);
            try (FileChannel control = FileChannel.open(
                    directory.resolve("nvml.control"),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE)) {
                memory = control.map(FileChannel.MapMode.READ_WRITE, 0, at("Control"), arena);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        text(at("Control.driverVersion"), version);
        set(at("Control.cudaVersion"), 12_080);
        set(at("Control.magic"), MAGIC);
    }

    /** A library below a driver root with so many GPUs; the root may be a temporary directory of the test. */
    public static StandInNvml install(Path driverRoot, int gpus) {
        return new StandInNvml(driverRoot, CBuild.library(), "570.124.06").gpus(gpus);
    }

    /** The same of a driver that knows only the older function names. */
    public static StandInNvml installOld(Path driverRoot, int gpus) {
        return new StandInNvml(driverRoot, CBuild.oldLibrary(), "450.80.02").gpus(gpus);
    }

    /** The path for GPUFLEET_NVML_LIBRARY. */
    public Path library() {
        return library;
    }

    /** The path for GPUFLEET_DRIVER_ROOT. */
    public Path driverRoot() {
        return driverRoot;
    }

    /** Another version of the library file, to which libnvidia-ml.so.1 now leads, as after an upgrade. */
    public StandInNvml upgrade(String version) {
        try {
            relink(Files.copy(CBuild.library(), library.resolveSibling("libnvidia-ml.so." + version)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        text(at("Control.driverVersion"), version);
        return this;
    }

    private void relink(Path file) throws IOException {
        Files.deleteIfExists(library);
        Files.createSymbolicLink(library, file.getFileName());
    }

    /** How many GPUs there are; new ones are healthy. */
    public StandInNvml gpus(int count) {
        for (int i = (int) INT.getVolatile(memory, at("Control.gpuCount")); i < count; i++) {
            healthy(i);
        }
        set(at("Control.gpuCount"), count);
        return this;
    }

    private void healthy(int i) {
        text(gpuAt(i, "uuid"), uuid(i));
        text(gpuAt(i, "name"), "NVIDIA H100 80GB HBM3");
        text(gpuAt(i, "serial"), "165492200000" + i);
        text(gpuAt(i, "busId"), busId(i));
        text(gpuAt(i, "vbios"), "96.00.74.00.01");
        set(gpuAt(i, "minorNumber"), i);
        set(gpuAt(i, "ccMajor"), 9);
        set(gpuAt(i, "gpuUtil"), 10 + i);
        set(gpuAt(i, "memoryUtil"), 5 + i);
        set(gpuAt(i, "power"), 120_000 + i);
        set(gpuAt(i, "temperature"), 40 + i);
        set(gpuAt(i, "smClock"), 1980);
        set(gpuAt(i, "memoryClock"), 2619);
        set(gpuAt(i, "memoryTotal"), 81_559L << 20);
        set(gpuAt(i, "memoryUsed"), 1L << 30);
        set(gpuAt(i, "energy"), 1_000_000L + i);
        set(gpuAt(i, "clockReasons"), 1L);
        set(gpuAt(i, "eventTypes"), (long) ALL_EVENTS);
        set(gpuAt(i, "pcieGeneration"), 5);
        set(gpuAt(i, "pcieGenerationMost"), 5);
        set(gpuAt(i, "pcieWidth"), 16);
        set(gpuAt(i, "pcieWidthMost"), 16);
        set(gpuAt(i, "pcieSent"), 4000);
        set(gpuAt(i, "pcieReceived"), 2000);
        for (int field = 0; field < FIELDS; field++) {
            set(gpuAt(i, "fields") + 8L * field, UNSUPPORTED_LONG);
        }
        for (int metric = 0; metric < METRICS; metric++) {
            memory.set(ValueLayout.JAVA_DOUBLE, gpuAt(i, "metrics") + 8L * metric, -1);
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

    /** Sets one fact by its name in control.h; {@link #UNSUPPORTED} makes it NOT_SUPPORTED. */
    public StandInNvml gpu(int gpu, String fact, long value) {
        if (isLong(fact)) {
            set(gpuAt(gpu, fact), value);
        } else {
            set(gpuAt(gpu, fact), (int) value);
        }
        return this;
    }

    /** Sets one text by its name in control.h; an empty one makes it NOT_SUPPORTED. */
    public StandInNvml gpu(int gpu, String fact, String value) {
        text(gpuAt(gpu, fact), value);
        return this;
    }

    /** Sets one field of nvmlDeviceGetFieldValues; {@link #UNSUPPORTED} makes it NOT_SUPPORTED again. */
    public StandInNvml field(int gpu, int id, long value) {
        set(gpuAt(gpu, "fields") + 8L * id, value);
        return this;
    }

    /** Sets one GPM metric in NVML's unit, percent or MiB/s, and makes the GPU one that has GPM. */
    public StandInNvml metric(int gpu, int id, double value) {
        memory.set(ValueLayout.JAVA_DOUBLE, gpuAt(gpu, "metrics") + 8L * id, value);
        return gpu(gpu, "gpm", 1);
    }

    /**
     * Creates a MIG instance in a slot; the GPU's mode is set apart.
     *
     * @param profile for example {@code 1g.10gb}; its first digits are the slices
     * @param gpuInstance its id, of which the compute instance is 0
     */
    public StandInNvml mig(int gpu, int slot, String profile, int gpuInstance) {
        Matcher words = PROFILE.matcher(profile);
        if (!words.matches()) {
            throw new IllegalArgumentException(profile + " is no profile");
        }
        int slices = Integer.parseInt(words.group(2));
        long at = migAt(gpu, slot);
        set(at + at("ControlMig.gpuInstance"), gpuInstance);
        set(at + at("ControlMig.computeInstance"), 0);
        set(at + at("ControlMig.gpuSlices"), slices);
        set(at + at("ControlMig.computeSlices"), words.group(1) == null ? slices : Integer.parseInt(words.group(1)));
        set(at + at("ControlMig.multiprocessors"), 16 * slices);
        set(at + at("ControlMig.copyEngines"), slices);
        set(at + at("ControlMig.decoders"), slices);
        set(at + at("ControlMig.jpegs"), slices);
        set(at + at("ControlMig.ofas"), words.group(4) == null ? 0 : 1);
        set(at + at("ControlMig.profileId"), 20 - slices);
        set(at + at("ControlMig.placementStart"), slot);
        set(at + at("ControlMig.placementSize"), slices);
        set(at + at("ControlMig.memoryMb"), 1024L * Integer.parseInt(words.group(3)));
        set(at + at("ControlMig.memoryUsed"), 64L << 20);
        text(at + at("ControlMig.uuid"), migUuid(gpu, gpuInstance));
        text(at + at("ControlMig.profile"), profile);
        set(at + at("ControlMig.used"), 1);
        return this;
    }

    /** The instance in a slot is destroyed; its handle is worth nothing any more. */
    public StandInNvml noMig(int gpu, int slot) {
        set(migAt(gpu, slot) + at("ControlMig.used"), 0);
        return this;
    }

    /**
     * A process computes on a GPU from now on.
     *
     * @param bytes memory that it has; −1 where the driver does not know
     * @param gpuInstance −1 for a GPU that is not partitioned; the compute instance is 0 otherwise
     * @param mps whether it does so as a client of MPS
     */
    public StandInNvml process(int gpu, long pid, long bytes, int gpuInstance, boolean mps) {
        for (int slot = 0; slot < PROCESSES; slot++) {
            long at = processAt(gpu, slot);
            if ((int) INT.getVolatile(memory, at + at("ControlProcess.used")) == 0) {
                set(at + at("ControlProcess.pid"), (int) pid);
                set(at + at("ControlProcess.memory"), bytes);
                set(at + at("ControlProcess.gpuInstance"), gpuInstance);
                set(at + at("ControlProcess.computeInstance"), gpuInstance == -1 ? -1 : 0);
                set(at + at("ControlProcess.mps"), mps ? 1 : 0);
                set(at + at("ControlProcess.used"), 1);
                return this;
            }
        }
        throw new IllegalStateException("no room for another process");
    }

    /** A process that has a GPU that is not partitioned. */
    public StandInNvml process(int gpu, long pid, long bytes) {
        return process(gpu, pid, bytes, -1, false);
    }

    /** Nobody computes on the GPU any more. */
    public StandInNvml noProcesses(int gpu) {
        for (int slot = 0; slot < PROCESSES; slot++) {
            set(processAt(gpu, slot) + at("ControlProcess.used"), 0);
        }
        return this;
    }

    /** UUID of a MIG instance. */
    public static String migUuid(int gpu, int gpuInstance) {
        return "MIG-" + new UUID(0x5d20_0000_0000_5000L + gpuInstance, 0x8000_0000_0000_0000L + gpu);
    }

    /** Posts an event of the driver as a whole: 1 is an unbind, 2 a bind. */
    public StandInNvml systemEvent(long type) {
        long posted = (long) LONG.getVolatile(memory, at("Control.systemPosted"));
        set(at("Control.systemEvents") + posted % 16 * 8, type);
        set(at("Control.systemPosted"), posted + 1);
        return this;
    }

    /** The far end of an NVLink: "switch", "down" or a GPU's index. */
    public StandInNvml link(int gpu, int link, String end) {
        int value = switch (end) {
            case "switch" -> 0xfe;
            case "down" -> 0xff;
            default -> Integer.parseInt(end);
        };
        set(gpuAt(gpu, "link") + 4L * link, value);
        return this;
    }

    /** Attaches a GPU to a fabric. */
    public StandInNvml fabric(int gpu, UUID cluster, int clique) {
        for (int i = 0; i < 8; i++) {
            memory.set(ValueLayout.JAVA_BYTE, gpuAt(gpu, "clusterUuid") + i, (byte)
                    (cluster.getMostSignificantBits() >> (56 - 8 * i)));
            memory.set(ValueLayout.JAVA_BYTE, gpuAt(gpu, "clusterUuid") + 8 + i, (byte)
                    (cluster.getLeastSignificantBits() >> (56 - 8 * i)));
        }
        return gpu(gpu, "cliqueId", clique).gpu(gpu, "fabricState", 3);
    }

    /** The GPU no longer answers, or answers again. */
    public StandInNvml lost(int gpu, boolean lost) {
        return gpu(gpu, "lost", lost ? 1 : 0);
    }

    /** Posts an XID event of a GPU. */
    public StandInNvml xid(int gpu, int xid) {
        return event(gpu, 0x8, xid, -1);
    }

    /** Posts an event; an instance of −1 is the whole GPU. */
    public StandInNvml event(int gpu, long type, long data, int instance) {
        long posted = (long) LONG.getVolatile(memory, at("Control.posted"));
        long at = at("Control.events") + posted % 256 * at("Event");
        set(at + at("Event.gpu"), gpu);
        set(at + at("Event.gpuInstance"), instance);
        set(at + at("Event.computeInstance"), instance == -1 ? -1 : 0);
        set(at + at("Event.type"), type);
        set(at + at("Event.data"), data);
        set(at("Control.posted"), posted + 1);
        return this;
    }

    /** From now on a function answers a code; for one GPU, or for all with −1. */
    public StandInNvml fail(String function, int gpu, int code) {
        return rule(function, gpu, code, false);
    }

    /** From now on a function does not return until the rules are cleared; for one GPU, or for all with −1. */
    public StandInNvml hang(String function, int gpu) {
        return rule(function, gpu, 0, true);
    }

    private StandInNvml rule(String function, int gpu, int code, boolean hang) {
        for (int i = 0; i < 32; i++) {
            long at = at("Control.rules") + (long) i * at("Rule");
            if ((int) INT.getVolatile(memory, at + at("Rule.used")) == 0) {
                text(at + at("Rule.call"), function);
                set(at + at("Rule.gpu"), gpu);
                set(at + at("Rule.code"), code);
                set(at + at("Rule.hang"), hang ? 1 : 0);
                set(at + at("Rule.used"), 1);
                return this;
            }
        }
        throw new IllegalStateException("no room for another rule");
    }

    /** Every function answers again, and what hung returns. */
    public StandInNvml clearRules() {
        for (int i = 0; i < 32; i++) {
            set(at("Control.rules") + (long) i * at("Rule") + at("Rule.used"), 0);
        }
        return this;
    }

    /**
     * A counter of the library: initCalls, shutdownCalls, openSessions, eventSets, waitCalls, hanging, systemSets, samples,
     * migQueries, validations.
     */
    public int counter(String name) {
        return (int) INT.getVolatile(memory, at("Control." + name));
    }

    @Override
    public void close() {
        // The file stays mapped where the library is loaded; what hangs must not hang for ever.
        clearRules();
        arena.close();
    }

    private void set(long offset, int value) {
        INT.setVolatile(memory, offset, value);
    }

    private void set(long offset, long value) {
        LONG.setVolatile(memory, offset, value);
    }

    private void text(long offset, String value) {
        memory.setString(offset, value);
    }
}
