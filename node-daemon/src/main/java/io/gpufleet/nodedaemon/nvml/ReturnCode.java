package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import java.util.List;

/** Names of nvmlReturn_t. */
final class ReturnCode {
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

    private ReturnCode() {}

    /** The name without its prefix; {@code CODE_n} for a code newer than the list. */
    static String name(int code) {
        if (code == NvmlFailure.HUNG) {
            return "HUNG";
        }
        if (code == NvmlFailure.INTERRUPTED) {
            return "INTERRUPTED";
        }
        if (code == 999) {
            return "UNKNOWN";
        }
        return code >= 0 && code < NAMES.size() ? NAMES.get(code) : "CODE_" + code;
    }

    static boolean concernsDriver(int code) {
        return code == NvmlConstants.UNINITIALIZED
                || code == NvmlFailure.INTERRUPTED
                || code == NvmlConstants.DRIVER_NOT_LOADED
                || code == NvmlConstants.LIB_RM_VERSION_MISMATCH;
    }
}
