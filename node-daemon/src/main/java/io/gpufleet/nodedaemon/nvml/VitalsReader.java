package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.util.List;

/** Reads what a GPU says of itself now. */
record VitalsReader(Nvml nvml, GpuReader gpus) {
    /** Fails where the handle does not answer. */
    Vitals read(String uuid, Nvml.Handle device) throws NvmlFailure {
        NvmlLibrary library = nvml.library();
        long address = device.address();
        Condition condition = condition(device);
        ByteBuffer rates = Nvml.struct(NvmlLayout.UTILIZATION_SIZE);
        int utilization = Nvml.code(() -> library.nvmlDeviceGetUtilizationRates(address, rates));
        return new Vitals(
                uuid,
                new Known<>(true),
                condition.recovery(),
                Nvml.reading(utilization, () -> rates.getInt(NvmlLayout.UTILIZATION_GPU)),
                Nvml.reading(utilization, () -> rates.getInt(NvmlLayout.UTILIZATION_MEMORY)),
                gpus.memory(device, NvmlLayout.MEMORY_USED, NvmlLayout.MEMORY_V2_USED),
                Nvml.number(out -> library.nvmlDeviceGetPowerUsage(address, out)),
                Nvml.number(out -> library.nvmlDeviceGetTemperature(address, NvmlConstants.TEMPERATURE_GPU, out)),
                Nvml.number(out -> library.nvmlDeviceGetClockInfo(address, NvmlConstants.CLOCK_SM, out)),
                Nvml.number(out -> library.nvmlDeviceGetClockInfo(address, NvmlConstants.CLOCK_MEMORY, out)),
                Nvml.longNumber(out -> library.nvmlDeviceGetTotalEnergyConsumption(address, out)),
                Nvml.number(out -> library.nvmlDeviceGetPcieReplayCounter(address, out))
                        .map(Integer::toUnsignedLong),
                Nvml.longNumber(
                        out -> library.nvmlDeviceGetCurrentClocksEventReasons(address, out),
                        out -> library.nvmlDeviceGetCurrentClocksThrottleReasons(address, out)),
                Meters.NONE,
                Conditions.unavailable("not read"),
                List.of());
    }

    /** Whether it answers, what the driver asks for, whether rows wait for a remap; fails where it does not answer. */
    Condition condition(Nvml.Handle device) throws NvmlFailure {
        String _ = nvml.uuid(device);
        return new Condition(
                nvml.field(device, NvmlConstants.FIELD_RECOVERY_ACTION).map(VitalsReader::action),
                nvml.field(device, NvmlConstants.FIELD_REMAP_PENDING).map(pending -> pending != 0));
    }

    /** What a GPU that answers says of its need to be repaired. */
    record Condition(Reading<RecoveryAction> recovery, Reading<Boolean> remapPending) {}

    /** The vitals of a GPU that does not answer. */
    static Vitals silent(String uuid, NvmlFailure why) {
        String reason = why.name();
        return new Vitals(
                uuid,
                why.code() == NvmlFailure.HUNG || why.concernsDriver() ? new Unavailable<>(reason) : new Known<>(false),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                new Unavailable<>(reason),
                Meters.NONE,
                Conditions.unavailable("not read"),
                List.of());
    }

    private static RecoveryAction action(int value) {
        return switch (value) {
            case 0 -> RecoveryAction.NONE;
            case 1 -> RecoveryAction.GPU_RESET;
            case 2 -> RecoveryAction.NODE_REBOOT;
            case 3 -> RecoveryAction.DRAIN_P2P;
            case 4 -> RecoveryAction.DRAIN_AND_RESET;
            case 5 -> RecoveryAction.RECOVER_IMEX_DOMAIN;
            default -> RecoveryAction.UNKNOWN;
        };
    }
}
