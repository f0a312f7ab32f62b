package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** An initialised NVML: pairs init and shutdown, picks a renamed function by what the library exports. */
final class Nvml implements AutoCloseable {
    private final NvmlLibrary library;

    private Nvml(NvmlLibrary library) {
        this.library = library;
    }

    /** A device as NVML addresses it; stays in this room and is worth nothing after a shutdown. */
    record Handle(long address) {}

    /** Initialises; the failure's code is FUNCTION_NOT_FOUND where the library is not NVML. */
    static Nvml init(NvmlLibrary library) throws NvmlFailure {
        check("nvmlInit", code(library::nvmlInit_v2, library::nvmlInit));
        return new Nvml(library);
    }

    @Override
    public void close() throws NvmlFailure {
        check("nvmlShutdown", code(library::nvmlShutdown));
    }

    NvmlLibrary library() {
        return library;
    }

    String driverVersion() throws NvmlFailure {
        byte[] text = new byte[NvmlConstants.STRING_LENGTH];
        check("nvmlSystemGetDriverVersion", code(() -> library.nvmlSystemGetDriverVersion(text, text.length)));
        return string(text);
    }

    /** {@code major.minor}; the driver gives 1000 × major + 10 × minor. */
    Reading<String> cudaVersion() {
        int[] version = new int[1];
        return reading(
                code(
                        () -> library.nvmlSystemGetCudaDriverVersion_v2(version),
                        () -> library.nvmlSystemGetCudaDriverVersion(version)),
                () -> version[0] / 1000 + "." + version[0] % 1000 / 10);
    }

    int count() throws NvmlFailure {
        int[] count = new int[1];
        check(
                "nvmlDeviceGetCount",
                code(() -> library.nvmlDeviceGetCount_v2(count), () -> library.nvmlDeviceGetCount(count)));
        return count[0];
    }

    Handle handle(int index) throws NvmlFailure {
        long[] handle = new long[1];
        check(
                "nvmlDeviceGetHandleByIndex",
                code(
                        () -> library.nvmlDeviceGetHandleByIndex_v2(index, handle),
                        () -> library.nvmlDeviceGetHandleByIndex(index, handle)));
        return new Handle(handle[0]);
    }

    String uuid(Handle device) throws NvmlFailure {
        return required("nvmlDeviceGetUUID", text -> library.nvmlDeviceGetUUID(device.address(), text, text.length));
    }

    String name(Handle device) throws NvmlFailure {
        return required("nvmlDeviceGetName", text -> library.nvmlDeviceGetName(device.address(), text, text.length));
    }

    /** A C function that fills a string. */
    interface Text {
        int into(byte[] buffer);
    }

    private static String required(String call, Text function) throws NvmlFailure {
        byte[] text = new byte[NvmlConstants.STRING_LENGTH];
        check(call, code(() -> function.into(text)));
        return string(text);
    }

    /** A string that a GPU need not have. */
    static Reading<String> text(Text function) {
        byte[] text = new byte[NvmlConstants.STRING_LENGTH];
        return reading(code(() -> function.into(text)), () -> string(text));
    }

    /** A C function that fills an unsigned int. */
    interface UnsignedInt {
        int into(int[] buffer);
    }

    static Reading<Integer> number(UnsignedInt function) {
        int[] number = new int[1];
        return reading(code(() -> function.into(number)), () -> number[0]);
    }

    /** A C function that fills an unsigned long long. */
    interface UnsignedLong {
        int into(long[] buffer);
    }

    static Reading<Long> longNumber(UnsignedLong function) {
        long[] number = new long[1];
        return reading(code(() -> function.into(number)), () -> number[0]);
    }

    static Reading<Long> longNumber(UnsignedLong function, UnsignedLong olderName) {
        long[] number = new long[1];
        return reading(code(() -> function.into(number), () -> olderName.into(number)), () -> number[0]);
    }

    /** The bus id of an nvmlPciInfo_t; old drivers leave the long form empty. */
    static String busId(ByteBuffer info) {
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

    static ByteBuffer struct(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    /** The code of the first of several names that the library exports. */
    static int code(IntSupplier... names) {
        int code = NvmlConstants.FUNCTION_NOT_FOUND;
        for (int i = 0; i < names.length && code == NvmlConstants.FUNCTION_NOT_FOUND; i++) {
            code = one(names[i]);
        }
        return code;
    }

    private static int one(IntSupplier name) {
        try {
            return name.getAsInt();
        } catch (UnsatisfiedLinkError e) {
            // The library does not export this name.
            return NvmlConstants.FUNCTION_NOT_FOUND;
        }
    }

    static void check(String call, int code) throws NvmlFailure {
        if (code != NvmlConstants.SUCCESS) {
            throw new NvmlFailure(call, code);
        }
    }

    static <T> Reading<T> reading(int code, Supplier<T> value) {
        return code == NvmlConstants.SUCCESS ? new Known<>(value.get()) : new Unavailable<>(ReturnCode.name(code));
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
