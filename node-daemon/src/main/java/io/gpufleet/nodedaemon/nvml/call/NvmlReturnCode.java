package io.gpufleet.nodedaemon.nvml.call;

import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import java.util.List;

/** Return codes of NVML (nvmlReturn_t) and their names. */
public final class NvmlReturnCode {
    /** Not a code of NVML: the call has not returned within the deadline. */
    public static final int HUNG = -1;

    /** Not a code of NVML: the call has not returned yet, and its deadline has not passed. */
    public static final int BUSY = -4;

    /** Not a code of NVML: the thread that waited for the call was interrupted. */
    static final int INTERRUPTED = -2;

    private static final List<String> NAMES = List.of(
            "SUCCESS",
            "UNINITIALIZED",
            "INVALID_ARGUMENT",
            "NOT_SUPPORTED",
            "NO_PERMISSION",
            "ALREADY_INITIALIZED",
            "NOT_FOUND",
            "INSUFFICIENT_SIZE",
            "INSUFFICIENT_POWER",
            "DRIVER_NOT_LOADED",
            "TIMEOUT",
            "IRQ_ISSUE",
            "LIBRARY_NOT_FOUND",
            "FUNCTION_NOT_FOUND",
            "CORRUPTED_INFOROM",
            "GPU_IS_LOST",
            "RESET_REQUIRED",
            "OPERATING_SYSTEM",
            "LIB_RM_VERSION_MISMATCH",
            "IN_USE",
            "MEMORY",
            "NO_DATA",
            "VGPU_ECC_NOT_SUPPORTED",
            "INSUFFICIENT_RESOURCES",
            "FREQ_NOT_SUPPORTED",
            "ARGUMENT_VERSION_MISMATCH",
            "DEPRECATED",
            "NOT_READY",
            "GPU_NOT_FOUND",
            "INVALID_STATE",
            "RESET_TYPE_NOT_SUPPORTED");

    private NvmlReturnCode() {}

    /** Name of a code without its prefix; {@code CODE_n} for a code that is newer than the list. */
    public static String name(int code) {
        if (code == HUNG) {
            return "HUNG";
        }
        if (code == BUSY) {
            return "BUSY";
        }
        if (code == INTERRUPTED) {
            return "INTERRUPTED";
        }
        if (code == 999) {
            return "UNKNOWN";
        }
        return code >= 0 && code < NAMES.size() ? NAMES.get(code) : "CODE_" + code;
    }

    public static boolean concernsDriver(int code) {
        return code == NvmlConstants.UNINITIALIZED
                || code == INTERRUPTED
                || code == NvmlConstants.DRIVER_NOT_LOADED
                || code == NvmlConstants.LIB_RM_VERSION_MISMATCH;
    }
}
