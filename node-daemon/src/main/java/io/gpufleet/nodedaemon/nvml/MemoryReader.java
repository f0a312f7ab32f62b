package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.nio.ByteBuffer;

/** Reads the memory of a GPU or of a MIG instance. */
record MemoryReader(Nvml nvml) {
    /**
     * What was read, in bytes.
     *
     * @param code NVML's word on the query
     */
    record Memory(Reading<Long> total, Reading<Long> used, Reading<Long> free, Reading<Long> reserved, int code) {}

    /** Version 2 keeps what the driver reserves apart from what is used; older drivers know only version 1. */
    Memory read(Nvml.Handle device) {
        ByteBuffer second = Nvml.struct(NvmlLayout.MEMORY_V2_SIZE)
                .putInt(NvmlLayout.MEMORY_V2_VERSION, NvmlLayout.version(NvmlLayout.MEMORY_V2_SIZE, 2));
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetMemoryInfo_v2(device.address(), second));
        if (code == NvmlConstants.SUCCESS) {
            return new Memory(
                    known(second, NvmlLayout.MEMORY_V2_TOTAL),
                    known(second, NvmlLayout.MEMORY_V2_USED),
                    known(second, NvmlLayout.MEMORY_V2_FREE),
                    known(second, NvmlLayout.MEMORY_V2_RESERVED),
                    code);
        }
        ByteBuffer first = Nvml.struct(NvmlLayout.MEMORY_SIZE);
        int older = Nvml.code(() -> nvml.library().nvmlDeviceGetMemoryInfo(device.address(), first));
        return new Memory(
                Nvml.reading(older, () -> first.getLong(NvmlLayout.MEMORY_TOTAL)),
                Nvml.reading(older, () -> first.getLong(NvmlLayout.MEMORY_USED)),
                Nvml.reading(older, () -> first.getLong(NvmlLayout.MEMORY_FREE)),
                new Unavailable<>(ReturnCode.name(code)),
                older);
    }

    private static Reading<Long> known(ByteBuffer struct, int offset) {
        return new Reading.Known<>(struct.getLong(offset));
    }
}
