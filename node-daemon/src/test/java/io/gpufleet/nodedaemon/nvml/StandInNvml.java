package io.gpufleet.nodedaemon.nvml;

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
import java.util.Map;
import java.util.UUID;

/**
 * A libnvidia-ml.so.1 in a directory of its own, told by a test at run time what to answer. It may be loaded into this
 * process or into another one: name {@link #library()} in GPUFLEET_NVML_LIBRARY, or its {@link #driverRoot()} in
 * GPUFLEET_DRIVER_ROOT. Starts as healthy H100s with driver 570.124.06.
 */
public final class StandInNvml implements AutoCloseable {
    /** Value of a fact that a GPU does not have. */
    public static final int UNSUPPORTED = -1;

    private static final int MAGIC = 0x4c4d564e;
    private static final int ALL_EVENTS = 0xff9f;
    private static final Map<String, Integer> LAYOUT = CBuild.layouts();
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

    /** A counter of the library: initCalls, shutdownCalls, openSessions, eventSets, waitCalls, hanging. */
    public int counter(String name) {
        return (int) INT.getVolatile(memory, at("Control." + name));
    }

    @Override
    public void close() {
        // The file stays mapped where the library is loaded; what hangs must not hang for ever.
        clearRules();
        arena.close();
    }

    private static boolean isLong(String fact) {
        return switch (fact) {
            case "memoryTotal", "memoryUsed", "energy", "clockReasons", "eventTypes" -> true;
            default -> false;
        };
    }

    private static long gpuAt(int gpu, String field) {
        return gpuAt(gpu, at("ControlGpu." + field));
    }

    private static long gpuAt(int gpu, int offset) {
        return at("Control.gpus") + (long) gpu * at("ControlGpu") + offset;
    }

    private static int at(String name) {
        Integer offset = LAYOUT.get(name);
        if (offset == null) {
            throw new IllegalArgumentException("control.h has no " + name);
        }
        return offset;
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
