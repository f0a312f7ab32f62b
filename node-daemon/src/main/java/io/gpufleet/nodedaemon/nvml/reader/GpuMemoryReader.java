package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.nio.ByteBuffer;

/** Reads the memory of a GPU or of a MIG instance. */
record GpuMemoryReader(Nvml nvml) {
    /**
     * Memory in bytes.
     *
     * @param code return code of the query
     */
    record MemoryReadings(
            Reading<Long> total, Reading<Long> used, Reading<Long> free, Reading<Long> reserved, int code) {}

    /** Reads version 2, which separates reserved from used memory; older drivers have only version 1. */
    MemoryReadings read(Nvml.Handle device) {
        ByteBuffer second = Nvml.struct(NvmlLayout.MEMORY_V2_SIZE)
                .putInt(NvmlLayout.MEMORY_V2_VERSION, NvmlLayout.version(NvmlLayout.MEMORY_V2_SIZE, 2));
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetMemoryInfo_v2(device.address(), second));
        if (code == NvmlConstants.SUCCESS) {
            return new MemoryReadings(
                    known(second, NvmlLayout.MEMORY_V2_TOTAL),
                    known(second, NvmlLayout.MEMORY_V2_USED),
                    known(second, NvmlLayout.MEMORY_V2_FREE),
                    known(second, NvmlLayout.MEMORY_V2_RESERVED),
                    code);
        }
        ByteBuffer first = Nvml.struct(NvmlLayout.MEMORY_SIZE);
        int older = Nvml.code(() -> nvml.library().nvmlDeviceGetMemoryInfo(device.address(), first));
        return new MemoryReadings(
                Nvml.reading(older, () -> first.getLong(NvmlLayout.MEMORY_TOTAL)),
                Nvml.reading(older, () -> first.getLong(NvmlLayout.MEMORY_USED)),
                Nvml.reading(older, () -> first.getLong(NvmlLayout.MEMORY_FREE)),
                new Unavailable<>(NvmlReturnCode.name(code)),
                older);
    }

    private static Reading<Long> known(ByteBuffer struct, int offset) {
        return new Reading.Known<>(struct.getLong(offset));
    }
}
