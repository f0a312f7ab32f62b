package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads GPU performance metrics (GPM) of Hopper and later, computed from two samples. The newer sample is kept for the next
 * call, so that a reading covers the whole time since the one before and no call waits.
 */
final class GpmReader {
    private static final long NONE = 0;
    private static final double PERCENT = 100;
    private static final double MIB = 1 << 20;

    private record GpmMetricMapping(int id, GpuMetric gpuMetric, double perUnit) {}

    private static final List<GpmMetricMapping> METRICS = List.of(
            new GpmMetricMapping(NvmlConstants.GPM_ENGINE, GpuMetric.ENGINE_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_SM, GpuMetric.SM_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_SM_OCCUPANCY, GpuMetric.SM_OCCUPANCY_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_TENSOR, GpuMetric.TENSOR_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_DRAM, GpuMetric.DRAM_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_FP64, GpuMetric.FP64_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_FP32, GpuMetric.FP32_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_FP16, GpuMetric.FP16_ACTIVE_RATIO, 1 / PERCENT),
            new GpmMetricMapping(NvmlConstants.GPM_PCIE_SENT, GpuMetric.PCIE_SENT_BYTES_PER_SECOND, MIB),
            new GpmMetricMapping(NvmlConstants.GPM_PCIE_RECEIVED, GpuMetric.PCIE_RECEIVED_BYTES_PER_SECOND, MIB));

    private final Nvml nvml;
    private final Map<String, SamplePair> pairs = new ConcurrentHashMap<>();

    /** Two samples of one GPU or instance: the one to overwrite next, and the last one, valid if {@code taken}. */
    private record SamplePair(long next, long last, boolean taken) {}

    GpmReader(Nvml nvml) {
        this.nvml = nvml;
    }

    /** Whether the GPU supports GPM. */
    boolean supported(Nvml.Handle device) {
        ByteBuffer support = Nvml.struct(NvmlLayout.GPM_SUPPORT_SIZE)
                .putInt(NvmlLayout.GPM_SUPPORT_VERSION, NvmlConstants.GPM_SUPPORT_VERSION);
        int code = Nvml.code(() -> nvml.library().nvmlGpmQueryDeviceSupport(device.address(), support));
        return code == NvmlConstants.SUCCESS && support.getInt(NvmlLayout.GPM_SUPPORT_SUPPORTED) == 1;
    }

    /** Metrics of a GPU since the last call; unavailable in the first call. */
    Map<GpuMetric, Reading<Double>> ofGpu(String uuid, Nvml.Handle device) {
        return read(uuid, sample -> nvml.library().nvmlGpmSampleGet(device.address(), sample));
    }

    /** Metrics of a MIG instance since the last call; the handle is that of its GPU. */
    Map<GpuMetric, Reading<Double>> ofMigInstance(String migUuid, Nvml.Handle device, int gpuInstance) {
        return read(migUuid, sample -> nvml.library().nvmlGpmMigSampleGet(device.address(), gpuInstance, sample));
    }

    /** A C function that fills a sample. */
    private interface SampleCall {
        int call(long sample);
    }

    private Map<GpuMetric, Reading<Double>> read(String uuid, SampleCall take) {
        SamplePair pair = pairs.computeIfAbsent(uuid, _ -> new SamplePair(allocateSample(), allocateSample(), false));
        int code = pair.next() == NONE || pair.last() == NONE
                ? NvmlConstants.NOT_SUPPORTED
                : Nvml.code(() -> take.call(pair.next()));
        if (code != NvmlConstants.SUCCESS) {
            return unavailable(NvmlReturnCode.name(code));
        }
        pairs.put(uuid, new SamplePair(pair.last(), pair.next(), true));
        return pair.taken() ? between(pair.last(), pair.next()) : unavailable("first GPM sample");
    }

    private long allocateSample() {
        long[] sample = new long[1];
        return Nvml.code(() -> nvml.library().nvmlGpmSampleAlloc(sample)) == NvmlConstants.SUCCESS ? sample[0] : NONE;
    }

    private Map<GpuMetric, Reading<Double>> between(long first, long second) {
        // The library may write to the whole struct, though only these metrics are requested.
        ByteBuffer request = Nvml.struct(NvmlLayout.GPM_METRICS_SIZE)
                .putInt(NvmlLayout.GPM_METRICS_VERSION, NvmlConstants.GPM_METRICS_VERSION)
                .putInt(NvmlLayout.GPM_METRICS_COUNT, METRICS.size())
                .putLong(NvmlLayout.GPM_METRICS_FIRST, first)
                .putLong(NvmlLayout.GPM_METRICS_SECOND, second);
        for (int i = 0; i < METRICS.size(); i++) {
            request.putInt(
                    metricOffset(i) + NvmlLayout.GPM_METRIC_ID, METRICS.get(i).id());
        }
        int code = Nvml.code(() -> nvml.library().nvmlGpmMetricsGet(request));
        Map<GpuMetric, Reading<Double>> readings = new EnumMap<>(GpuMetric.class);
        for (int i = 0; i < METRICS.size(); i++) {
            GpmMetricMapping metric = METRICS.get(i);
            int at = metricOffset(i);
            int own = code == NvmlConstants.SUCCESS ? request.getInt(at + NvmlLayout.GPM_METRIC_RETURN) : code;
            readings.put(
                    metric.gpuMetric(),
                    Nvml.reading(own, () -> request.getDouble(at + NvmlLayout.GPM_METRIC_VALUE) * metric.perUnit()));
        }
        return readings;
    }

    private static int metricOffset(int metric) {
        return NvmlLayout.GPM_METRICS_METRICS + metric * NvmlLayout.GPM_METRIC_SIZE;
    }

    private static Map<GpuMetric, Reading<Double>> unavailable(String reason) {
        Map<GpuMetric, Reading<Double>> readings = new EnumMap<>(GpuMetric.class);
        METRICS.forEach(metric -> readings.put(metric.gpuMetric(), new Unavailable<>(reason)));
        return readings;
    }

    /** Frees the samples of all other GPUs and instances. */
    void retainOnly(Set<String> uuids) {
        pairs.entrySet().removeIf(entry -> {
            boolean gone = !uuids.contains(entry.getKey());
            if (gone) {
                free(entry.getValue().next());
                free(entry.getValue().last());
            }
            return gone;
        });
    }

    private void free(long sample) {
        if (sample != NONE) {
            int _ = Nvml.code(() -> nvml.library().nvmlGpmSampleFree(sample));
        }
    }
}
