package io.gpufleet.nodedaemon.nvml.call;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * An initialised NVML: pairs init and shutdown, and calls a renamed function by the name that the library exports. It sees the
 * GPUs that were there at {@link #attachGpus()}; handles are invalid after {@link #close()}, and so is this object.
 */
public final class Nvml implements AutoCloseable {
    private final NvmlLibrary loaded;
    private volatile NvmlLibrary library;
    /** NVML counts initialisations, and ends with the last shutdown only. */
    private int initialisations;

    private Nvml(NvmlLibrary library) {
        this.loaded = library;
        this.library = library;
    }

    /** Handle of a device; it never leaves the nvml packages and is invalid after a shutdown. */
    public record Handle(long address) {}

    /**
     * Initialises NVML without GPUs, where the library can; that is enough to register system events, which must be done before
     * GPUs are listed.
     */
    public static Nvml init(NvmlLibrary library) {
        Nvml nvml = new Nvml(library);
        if (code(() -> library.nvmlInitWithFlags(NvmlConstants.INIT_NO_GPUS)) == NvmlConstants.SUCCESS) {
            nvml.initialisations++;
        }
        return nvml;
    }

    /** Lists the GPUs; fails with FUNCTION_NOT_FOUND where the library is not NVML. */
    public void attachGpus() throws NvmlFailure {
        check("nvmlInit", code(loaded::nvmlInit_v2, loaded::nvmlInit));
        initialisations++;
    }

    /** Whether NVML was initialised without GPUs, so that system events may be registered. */
    public boolean isInitialised() {
        return initialisations > 0;
    }

    /** Shuts down each initialisation, once; after a failure another call shuts down the rest. */
    @Override
    public void close() throws NvmlFailure {
        library = ShutDownLibrary.INSTANCE;
        while (initialisations > 0) {
            check("nvmlShutdown", code(loaded::nvmlShutdown));
            initialisations--;
        }
    }

    /** The library; after {@link #close()} one whose functions all return UNINITIALIZED. */
    public NvmlLibrary library() {
        return library;
    }

    public String driverVersion() throws NvmlFailure {
        byte[] text = new byte[NvmlConstants.STRING_LENGTH];
        check("nvmlSystemGetDriverVersion", code(() -> library().nvmlSystemGetDriverVersion(text, text.length)));
        return string(text);
    }

    /** CUDA version as {@code major.minor}; the driver returns 1000 × major + 10 × minor. */
    public Reading<String> cudaVersion() {
        int[] version = new int[1];
        return reading(
                code(
                        () -> library().nvmlSystemGetCudaDriverVersion_v2(version),
                        () -> library().nvmlSystemGetCudaDriverVersion(version)),
                () -> version[0] / 1000 + "." + version[0] % 1000 / 10);
    }

    public int count() throws NvmlFailure {
        int[] count = new int[1];
        check(
                "nvmlDeviceGetCount",
                code(
                        () -> library().nvmlDeviceGetCount_v2(count),
                        () -> library().nvmlDeviceGetCount(count)));
        return count[0];
    }

    public Handle handle(int index) throws NvmlFailure {
        long[] handle = new long[1];
        check(
                "nvmlDeviceGetHandleByIndex",
                code(
                        () -> library().nvmlDeviceGetHandleByIndex_v2(index, handle),
                        () -> library().nvmlDeviceGetHandleByIndex(index, handle)));
        return new Handle(handle[0]);
    }

    public String uuid(Handle device) throws NvmlFailure {
        return required("nvmlDeviceGetUUID", text -> library().nvmlDeviceGetUUID(device.address(), text, text.length));
    }

    public String name(Handle device) throws NvmlFailure {
        return required("nvmlDeviceGetName", text -> library().nvmlDeviceGetName(device.address(), text, text.length));
    }

    /** A C function that fills a string. */
    public interface StringCall {
        int call(byte[] buffer);
    }

    private static String required(String call, StringCall function) throws NvmlFailure {
        byte[] text = new byte[NvmlConstants.STRING_LENGTH];
        check(call, code(() -> function.call(text)));
        return string(text);
    }

    /** Reads a string; unavailable where the GPU has none. */
    public static Reading<String> text(StringCall function) {
        byte[] text = new byte[NvmlConstants.STRING_LENGTH];
        return reading(code(() -> function.call(text)), () -> string(text));
    }

    /** A C function that fills an unsigned int. */
    public interface UnsignedIntCall {
        int call(int[] buffer);
    }

    public static Reading<Integer> number(UnsignedIntCall function) {
        int[] number = new int[1];
        return reading(code(() -> function.call(number)), () -> number[0]);
    }

    /** A C function that fills an unsigned long long. */
    public interface UnsignedLongCall {
        int call(long[] buffer);
    }

    public static Reading<Long> longNumber(UnsignedLongCall function) {
        long[] number = new long[1];
        return reading(code(() -> function.call(number)), () -> number[0]);
    }

    public static Reading<Long> longNumber(UnsignedLongCall function, UnsignedLongCall olderName) {
        long[] number = new long[1];
        return reading(code(() -> function.call(number), () -> olderName.call(number)), () -> number[0]);
    }

    /** Bus id of an nvmlPciInfo_t; old drivers leave the long form empty, so it is built from the numbers. */
    public static String busId(ByteBuffer info) {
        byte[] text = new byte[NvmlLayout.PCI_BUS_ID_LENGTH];
        info.get(NvmlLayout.PCI_BUS_ID, text);
        String busId = string(text);
        return busId.isEmpty()
                ? String.format(
                        Locale.ROOT,
                        "%08X:%02X:%02X.0",
                        info.getInt(NvmlLayout.PCI_DOMAIN),
                        info.getInt(NvmlLayout.PCI_BUS),
                        info.getInt(NvmlLayout.PCI_DEVICE))
                : busId.toUpperCase(Locale.ROOT);
    }

    public static ByteBuffer struct(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    /** Calls the first of several names of a function that the library exports. */
    public static int code(IntSupplier... names) {
        int code = NvmlConstants.FUNCTION_NOT_FOUND;
        for (int i = 0; i < names.length && code == NvmlConstants.FUNCTION_NOT_FOUND; i++) {
            code = codeOrNotFound(names[i]);
        }
        return code;
    }

    private static int codeOrNotFound(IntSupplier name) {
        try {
            return name.getAsInt();
        } catch (UnsatisfiedLinkError e) {
            // The library does not export this name.
            return NvmlConstants.FUNCTION_NOT_FOUND;
        }
    }

    public static void check(String call, int code) throws NvmlFailure {
        if (code != NvmlConstants.SUCCESS) {
            throw new NvmlFailure(call, code);
        }
    }

    public static <T> Reading<T> reading(int code, Supplier<T> value) {
        return code == NvmlConstants.SUCCESS ? new Known<>(value.get()) : new Unavailable<>(NvmlReturnCode.name(code));
    }

    /** Up to the first NUL. */
    static String string(byte[] text) {
        int length = 0;
        while (length < text.length && text[length] != 0) {
            length++;
        }
        return new String(text, 0, length, StandardCharsets.UTF_8);
    }
}
