package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.SliceVitals;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.nvml.CostlyReader.Costly;
import io.gpufleet.nodedaemon.nvml.MemoryReader.Memory;
import io.gpufleet.nodedaemon.nvml.NvmlSession.Tracked;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Reads what a GPU says of itself now. */
record VitalsReader(Nvml nvml, LinkBaseline baseline) {
    private static final int[] FIELDS = IntStream.concat(
                    IntStream.of(
                            NvmlConstants.FIELD_RECOVERY_ACTION,
                            NvmlConstants.FIELD_REMAP_PENDING,
                            NvmlConstants.FIELD_RETIRED_PENDING),
                    IntStream.of(MetersReader.fields()))
            .toArray();

    /** Fails where the handle does not answer. */
    Vitals read(Tracked gpu, Costly costly) throws NvmlFailure {
        NvmlLibrary library = nvml.library();
        Nvml.Handle device = gpu.device();
        long address = device.address();
        String uuid = nvml.uuid(device);
        Fields fields = Fields.of(nvml, device, FIELDS);
        Memory memory = new MemoryReader(nvml).read(device);
        ByteBuffer rates = Nvml.struct(NvmlLayout.UTILIZATION_SIZE);
        int utilization = Nvml.code(() -> library.nvmlDeviceGetUtilizationRates(address, rates));
        Map<Meter, Reading<Double>> meters = new MetersReader(nvml).read(device, fields, memory);
        meters.putAll(costly.meters());
        return new Vitals(
                uuid,
                new Known<>(true),
                recovery(fields),
                Nvml.reading(utilization, () -> rates.getInt(NvmlLayout.UTILIZATION_GPU)),
                Nvml.reading(utilization, () -> rates.getInt(NvmlLayout.UTILIZATION_MEMORY)),
                memory.used(),
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
                new Meters(meters),
                new ConditionsReader(nvml, baseline).read(gpu.gpu(), device, fields, costly.infoRomValid()),
                new ProcessReader(nvml).read(gpu),
                gpu.slices().stream().map(slice -> slice(slice, costly)).toList());
    }

    private SliceVitals slice(MigReader.Slice slice, Costly costly) {
        Map<Meter, Reading<Double>> meters = MetersReader.memory(new MemoryReader(nvml).read(slice.device()));
        meters.putAll(costly.slices().getOrDefault(slice.instance().uuid(), Map.of()));
        return new SliceVitals(slice.instance().uuid(), new Meters(meters));
    }

    /** What a GPU that answers says of its need to be repaired; fails where it does not answer. */
    Condition condition(Nvml.Handle device) throws NvmlFailure {
        String _ = nvml.uuid(device);
        Fields fields = Fields.of(nvml, device, NvmlConstants.FIELD_RECOVERY_ACTION, NvmlConstants.FIELD_REMAP_PENDING);
        Memory memory = new MemoryReader(nvml).read(device);
        if (memory.code() == NvmlConstants.GPU_IS_LOST || ReturnCode.concernsDriver(memory.code())) {
            throw new NvmlFailure("nvmlDeviceGetMemoryInfo", memory.code());
        }
        return new Condition(
                recovery(fields), fields.of(NvmlConstants.FIELD_REMAP_PENDING).map(pending -> pending != 0));
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
                Conditions.unavailable(reason),
                new Unavailable<>(reason),
                List.of());
    }

    private static Reading<RecoveryAction> recovery(Fields fields) {
        return fields.of(NvmlConstants.FIELD_RECOVERY_ACTION).map(VitalsReader::action);
    }

    private static RecoveryAction action(long value) {
        return switch ((int) value) {
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
