package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFieldValues;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.util.List;

/** Reads the health readings of a GPU. */
record HealthReadingsReader(Nvml nvml, NvLinkBaseline baseline) {
    /** Reads everything but the fields and the InfoROM, which are read already. */
    HealthReadings read(Gpu gpu, Nvml.Handle device, NvmlFieldValues fields, Reading<Boolean> infoRomValid) {
        long address = device.address();
        NvLinkReader links = new NvLinkReader(nvml);
        List<Boolean> states = links.states(device);
        return new HealthReadings(
                fields.of(NvmlConstants.FIELD_ECC_DOUBLE_VOLATILE),
                new HealthReadings.RowRemapping(
                        flag(fields, NvmlConstants.FIELD_REMAP_PENDING),
                        flag(fields, NvmlConstants.FIELD_REMAP_FAILURE)),
                flag(fields, NvmlConstants.FIELD_RETIRED_PENDING),
                new HealthReadings.PcieLink(
                        Nvml.number(out -> nvml.library().nvmlDeviceGetCurrPcieLinkGeneration(address, out)),
                        Nvml.number(out -> nvml.library().nvmlDeviceGetMaxPcieLinkGeneration(address, out)),
                        Nvml.number(out -> nvml.library().nvmlDeviceGetCurrPcieLinkWidth(address, out)),
                        Nvml.number(out -> nvml.library().nvmlDeviceGetMaxPcieLinkWidth(address, out))),
                new HealthReadings.Nvlink(linksDown(gpu, states), links.errors(device, states.size())),
                infoRomValid,
                new FabricReader(nvml).state(device),
                powerReadable(device));
    }

    private static Reading<Boolean> flag(NvmlFieldValues fields, int id) {
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
                    NvmlConstants.GPU_IS_LOST -> new Unavailable<>(NvmlReturnCode.name(code));
            default -> new Known<>(false);
        };
    }
}
