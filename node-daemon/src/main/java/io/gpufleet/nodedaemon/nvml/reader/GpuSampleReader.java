package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.DeviceSample;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.MigInstanceSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlFieldValues;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import io.gpufleet.nodedaemon.nvml.reader.GpuMemoryReader.MemoryReadings;
import io.gpufleet.nodedaemon.nvml.reader.NvLinkReader.NvLinkReadings;
import io.gpufleet.nodedaemon.nvml.reader.SlowReadingsReader.SlowReadings;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Reads a sample of a GPU. */
public record GpuSampleReader(Nvml nvml, ExpectedNvLinkCount baseline, NvLinkRates nvLinkRates) {
    private static final int[] FIELDS = IntStream.concat(
                    IntStream.of(
                            NvmlConstants.FIELD_RECOVERY_ACTION,
                            NvmlConstants.FIELD_REMAP_PENDING,
                            NvmlConstants.FIELD_RETIRED_PENDING),
                    IntStream.of(GpuMetricsReader.fields()))
            .toArray();

    /** Reads the sample; fails where the handle does not respond. */
    public GpuSample read(ScannedGpu gpu, SlowReadings slow) throws NvmlFailure {
        Nvml.Handle device = gpu.device();
        long address = device.address();
        String uuid = nvml.uuid(device);
        NvmlFieldValues fields = NvmlFieldValues.of(nvml, device, FIELDS);
        MemoryReadings memory = memory(device);
        NvLinkReadings links = new NvLinkReader(nvml).read(device);
        ByteBuffer rates = Nvml.struct(NvmlLayout.UTILIZATION_SIZE);
        int utilization = Nvml.code(() -> nvml.library().nvmlDeviceGetUtilizationRates(address, rates));
        Map<GpuMetric, Reading<Double>> metrics = new GpuMetricsReader(nvml).read(device, fields, memory, links);
        metrics.put(
                GpuMetric.NVLINK_BYTES_PER_SECOND,
                nvLinkRates.perSecond(uuid, new GpuMetricReadings(metrics).of(GpuMetric.NVLINK_BYTES_TOTAL)));
        metrics.putAll(slow.metrics());
        return new GpuSample(
                uuid,
                new Known<>(true),
                recovery(fields),
                new DeviceSample(
                        new DeviceSample.Utilization(
                                Nvml.reading(utilization, () -> rates.getInt(NvmlLayout.UTILIZATION_GPU)),
                                Nvml.reading(utilization, () -> rates.getInt(NvmlLayout.UTILIZATION_MEMORY))),
                        memory.used(),
                        new DeviceSample.Power(
                                Nvml.number(out -> nvml.library().nvmlDeviceGetPowerUsage(address, out)),
                                Nvml.longNumber(
                                        out -> nvml.library().nvmlDeviceGetTotalEnergyConsumption(address, out))),
                        Nvml.number(out ->
                                nvml.library().nvmlDeviceGetTemperature(address, NvmlConstants.TEMPERATURE_GPU, out)),
                        new DeviceSample.Clocks(
                                Nvml.number(out ->
                                        nvml.library().nvmlDeviceGetClockInfo(address, NvmlConstants.CLOCK_SM, out)),
                                Nvml.number(out -> nvml.library()
                                        .nvmlDeviceGetClockInfo(address, NvmlConstants.CLOCK_MEMORY, out)),
                                Nvml.longNumber(
                                        out -> nvml.library().nvmlDeviceGetCurrentClocksEventReasons(address, out),
                                        out -> nvml.library().nvmlDeviceGetCurrentClocksThrottleReasons(address, out))),
                        Nvml.number(out -> nvml.library().nvmlDeviceGetPcieReplayCounter(address, out))
                                .map(Integer::toUnsignedLong)),
                new GpuMetricReadings(metrics),
                new HealthReadingsReader(nvml, baseline).read(gpu, fields, links, slow.infoRomValid()),
                new GpuProcessReader(nvml).read(gpu),
                gpu.migInstances().stream().map(mig -> migInstance(mig, slow)).toList());
    }

    private MigInstanceSample migInstance(MigReader.ScannedMigInstance mig, SlowReadings slow) {
        Map<GpuMetric, Reading<Double>> metrics =
                GpuMetricsReader.ofMigInstance(new GpuMemoryReader(nvml).read(mig.device()));
        metrics.putAll(slow.migInstances().getOrDefault(mig.instance().uuid(), Map.of()));
        return new MigInstanceSample(mig.instance().uuid(), new GpuMetricReadings(metrics));
    }

    /** Fails for a lost GPU; the library may still know its UUID, but not its memory. */
    public void checkResponds(Nvml.Handle device) throws NvmlFailure {
        MemoryReadings _ = memory(device);
    }

    private MemoryReadings memory(Nvml.Handle device) throws NvmlFailure {
        MemoryReadings memory = new GpuMemoryReader(nvml).read(device);
        if (memory.code() == NvmlConstants.GPU_IS_LOST || NvmlReturnCode.concernsDriver(memory.code())) {
            throw new NvmlFailure("nvmlDeviceGetMemoryInfo", memory.code());
        }
        return memory;
    }

    /** The sample of a GPU that does not respond. */
    public static GpuSample unavailable(String uuid, NvmlFailure why) {
        String reason = why.name();
        return new GpuSample(
                uuid,
                why.code() == NvmlReturnCode.HUNG || why.code() == NvmlReturnCode.BUSY || why.concernsDriver()
                        ? new Unavailable<>(reason)
                        : new Known<>(false),
                new Unavailable<>(reason),
                new DeviceSample(
                        new DeviceSample.Utilization(new Unavailable<>(reason), new Unavailable<>(reason)),
                        new Unavailable<>(reason),
                        new DeviceSample.Power(new Unavailable<>(reason), new Unavailable<>(reason)),
                        new Unavailable<>(reason),
                        new DeviceSample.Clocks(
                                new Unavailable<>(reason), new Unavailable<>(reason), new Unavailable<>(reason)),
                        new Unavailable<>(reason)),
                GpuMetricReadings.NONE,
                HealthReadings.unavailable(reason),
                new Unavailable<>(reason),
                List.of());
    }

    private static Reading<RecoveryAction> recovery(NvmlFieldValues fields) {
        return fields.of(NvmlConstants.FIELD_RECOVERY_ACTION).map(GpuSampleReader::action);
    }

    private static RecoveryAction action(long value) {
        return switch ((int) value) {
            case 0 -> RecoveryAction.NONE;
            case 1 -> RecoveryAction.GPU_RESET;
            case 2 -> RecoveryAction.NODE_REBOOT;
            case 3 -> RecoveryAction.DRAIN_P2P;
            case 4 -> RecoveryAction.DRAIN_AND_RESET;
            case 5 -> RecoveryAction.RECOVER_IMEX_DOMAIN;
            case 6 -> RecoveryAction.BUS_RESET;
            case 7 -> RecoveryAction.SYSTEM_REBOOT;
            default -> RecoveryAction.UNKNOWN;
        };
    }
}
