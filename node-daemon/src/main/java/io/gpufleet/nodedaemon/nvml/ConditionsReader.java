package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.util.List;

/** Reads what a GPU says of its own fitness. */
record ConditionsReader(Nvml nvml, LinkBaseline baseline) {
    /** Everything; the fields and the InfoROM are read by others already. */
    Conditions read(Gpu gpu, Nvml.Handle device, Fields fields, Reading<Boolean> infoRomValid) {
        NvmlLibrary library = nvml.library();
        long address = device.address();
        NvLinks links = new NvLinks(nvml);
        List<Boolean> states = links.states(device);
        return new Conditions(
                fields.of(NvmlConstants.FIELD_ECC_DOUBLE_VOLATILE),
                flag(fields, NvmlConstants.FIELD_REMAP_PENDING),
                flag(fields, NvmlConstants.FIELD_REMAP_FAILURE),
                flag(fields, NvmlConstants.FIELD_RETIRED_PENDING),
                Nvml.number(out -> library.nvmlDeviceGetCurrPcieLinkGeneration(address, out)),
                Nvml.number(out -> library.nvmlDeviceGetMaxPcieLinkGeneration(address, out)),
                Nvml.number(out -> library.nvmlDeviceGetCurrPcieLinkWidth(address, out)),
                Nvml.number(out -> library.nvmlDeviceGetMaxPcieLinkWidth(address, out)),
                linksDown(gpu, states),
                links.errors(device, states.size()),
                infoRomValid,
                new FabricReader(nvml).state(device),
                powerReadable(device));
    }

    private static Reading<Boolean> flag(Fields fields, int id) {
        return fields.of(id).map(value -> value != 0);
    }

    private Reading<Integer> linksDown(Gpu gpu, List<Boolean> states) {
        if (states.isEmpty()) {
            return new Unavailable<>("no NVLink");
        }
        int up = (int) states.stream().filter(state -> state).count();
        return new Known<>(baseline.missing(gpu, up));
    }

    private Reading<Boolean> powerReadable(Nvml.Handle device) {
        int[] milliwatts = new int[1];
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetPowerUsage(device.address(), milliwatts));
        return switch (code) {
            case NvmlConstants.SUCCESS -> new Known<>(true);
            case NvmlConstants.NOT_SUPPORTED,
                    NvmlConstants.NO_PERMISSION,
                    NvmlConstants.FUNCTION_NOT_FOUND,
                    NvmlConstants.GPU_IS_LOST -> new Unavailable<>(ReturnCode.name(code));
            default -> new Known<>(false);
        };
    }
}
