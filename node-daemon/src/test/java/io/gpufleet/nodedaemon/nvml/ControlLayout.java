package io.gpufleet.nodedaemon.nvml;

import java.util.Map;

/** Where each field of the stand-in's control file is, as the C compiler says. */
final class ControlLayout {
    private static final Map<String, Integer> LAYOUT = CBuild.layouts();

    private ControlLayout() {}

    /** Offset of a field in its struct, {@code Struct.field}; of a struct alone its size. */
    static int at(String name) {
        Integer offset = LAYOUT.get(name);
        if (offset == null) {
            throw new IllegalArgumentException("control.h has no " + name);
        }
        return offset;
    }

    /** Where a field of a GPU is in the file. */
    static long gpuAt(int gpu, String field) {
        return at("Control.gpus") + (long) gpu * at("ControlGpu") + at("ControlGpu." + field);
    }

    /** Where a MIG instance begins. */
    static long migAt(int gpu, int slot) {
        return gpuAt(gpu, "mig") + (long) slot * at("ControlMig");
    }

    /** Where a process begins. */
    static long processAt(int gpu, int slot) {
        return gpuAt(gpu, "processes") + (long) slot * at("ControlProcess");
    }

    /** Whether a fact of a GPU takes eight bytes. */
    static boolean isLong(String fact) {
        return switch (fact) {
            case "memoryTotal", "memoryUsed", "energy", "clockReasons", "eventTypes" -> true;
            case "powerViolation", "thermalViolation" -> true;
            default -> false;
        };
    }
}
