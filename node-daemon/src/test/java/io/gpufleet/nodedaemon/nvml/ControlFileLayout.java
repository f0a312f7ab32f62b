package io.gpufleet.nodedaemon.nvml;

import java.util.Map;

/** Offsets of the fields of the control file, as printed by the C compiler's {@code layouts}. */
final class ControlFileLayout {
    private static final Map<String, Integer> LAYOUT = FakeNvmlBuild.layouts();

    private ControlFileLayout() {}

    /** Offset of a field, {@code Struct.field}, or size of a struct. */
    static int offsetOf(String name) {
        Integer offset = LAYOUT.get(name);
        if (offset == null) {
            throw new IllegalArgumentException("control.h has no " + name);
        }
        return offset;
    }

    /** Offset of a field of a GPU in the file. */
    static long gpuAt(int gpu, String field) {
        return offsetOf("Control.gpus") + (long) gpu * offsetOf("ControlGpu") + offsetOf("ControlGpu." + field);
    }

    /** Offset of a MIG instance in the file. */
    static long migAt(int gpu, int slot) {
        return gpuAt(gpu, "mig") + (long) slot * offsetOf("ControlMig");
    }

    /** Offset of a process in the file. */
    static long processAt(int gpu, int slot) {
        return gpuAt(gpu, "processes") + (long) slot * offsetOf("ControlProcess");
    }

    /** Whether a field of a GPU has eight bytes. */
    static boolean isLong(String fact) {
        return switch (fact) {
            case "memoryTotal", "memoryUsed", "energy", "clockReasons", "eventTypes" -> true;
            case "powerViolation", "thermalViolation" -> true;
            default -> false;
        };
    }
}
