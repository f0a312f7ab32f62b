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
import io.gpufleet.nodedaemon.nvml.reader.NvLinkReader.NvLinkReadings;

/** Reads the health readings of a GPU. */
record HealthReadingsReader(Nvml nvml, ExpectedNvLinkCount baseline) {
    /** Reads everything but the fields, links and InfoROM, which are read already. */
    HealthReadings read(ScannedGpu gpu, NvmlFieldValues fields, NvLinkReadings links, Reading<Boolean> infoRomValid) {
        Nvml.Handle device = gpu.device();
        long address = device.address();
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
                new HealthReadings.Nvlink(linksDown(gpu.gpu(), links), links.errors(), links.crcErrors()),
                infoRomValid,
                new FabricReader(nvml).state(device),
                powerReadable(device));
    }

    private static Reading<Boolean> flag(NvmlFieldValues fields, int id) {
        return fields.of(id).map(value -> value != 0);
    }

    /** A link that does not answer any more is down. */
    private Reading<Integer> linksDown(Gpu gpu, NvLinkReadings links) {
        if (links.up().isEmpty()) {
            return new Unavailable<>("no NVLink");
        }
        int up = (int) links.up().values().stream().filter(state -> state).count();
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
