package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Performance metrics of Hopper and later: what happened between two samples. The newer one is kept for the next time, so
 * that a reading covers all of the time since the one before and no call has to wait.
 */
final class Gpm {
    private static final long NONE = 0;
    private static final double PERCENT = 100;
    private static final double MIB = 1 << 20;

    private record Metric(int id, Meter meter, double perUnit) {}

    private static final List<Metric> METRICS = List.of(
            new Metric(NvmlConstants.GPM_ENGINE, Meter.ENGINE_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_SM, Meter.SM_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_SM_OCCUPANCY, Meter.SM_OCCUPANCY_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_TENSOR, Meter.TENSOR_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_DRAM, Meter.DRAM_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_FP64, Meter.FP64_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_FP32, Meter.FP32_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_FP16, Meter.FP16_ACTIVE_RATIO, 1 / PERCENT),
            new Metric(NvmlConstants.GPM_PCIE_SENT, Meter.PCIE_SENT_BYTES_PER_SECOND, MIB),
            new Metric(NvmlConstants.GPM_PCIE_RECEIVED, Meter.PCIE_RECEIVED_BYTES_PER_SECOND, MIB));

    private final Nvml nvml;
    private final Map<String, Pair> pairs = new ConcurrentHashMap<>();

    /** Two samples of one GPU or instance: the one that is overwritten next, and the last one, if there was any yet. */
    private record Pair(long next, long last, boolean taken) {}

    Gpm(Nvml nvml) {
        this.nvml = nvml;
    }

    /** Whether the GPU has such metrics. */
    boolean supported(Nvml.Handle device) {
        ByteBuffer support = Nvml.struct(NvmlLayout.GPM_SUPPORT_SIZE)
                .putInt(NvmlLayout.GPM_SUPPORT_VERSION, NvmlConstants.GPM_SUPPORT_VERSION);
        int code = Nvml.code(() -> nvml.library().nvmlGpmQueryDeviceSupport(device.address(), support));
        return code == NvmlConstants.SUCCESS && support.getInt(NvmlLayout.GPM_SUPPORT_SUPPORTED) == 1;
    }

    /** The metrics of a whole GPU since the last time; unavailable the first time. */
    Map<Meter, Reading<Double>> whole(String uuid, Nvml.Handle device) {
        return read(uuid, sample -> nvml.library().nvmlGpmSampleGet(device.address(), sample));
    }

    /** The metrics of a GPU instance since the last time; the handle is its GPU's. */
    Map<Meter, Reading<Double>> slice(String migUuid, Nvml.Handle device, int gpuInstance) {
        return read(migUuid, sample -> nvml.library().nvmlGpmMigSampleGet(device.address(), gpuInstance, sample));
    }

    /** A C function that fills a sample. */
    private interface Take {
        int into(long sample);
    }

    private Map<Meter, Reading<Double>> read(String uuid, Take take) {
        Pair pair = pairs.computeIfAbsent(uuid, _ -> new Pair(allocated(), allocated(), false));
        int code = pair.next() == NONE || pair.last() == NONE
                ? NvmlConstants.NOT_SUPPORTED
                : Nvml.code(() -> take.into(pair.next()));
        if (code != NvmlConstants.SUCCESS) {
            return unavailable(ReturnCode.name(code));
        }
        pairs.put(uuid, new Pair(pair.last(), pair.next(), true));
        return pair.taken() ? between(pair.last(), pair.next()) : unavailable("the first sample has none before it");
    }

    private long allocated() {
        long[] sample = new long[1];
        return Nvml.code(() -> nvml.library().nvmlGpmSampleAlloc(sample)) == NvmlConstants.SUCCESS ? sample[0] : NONE;
    }

    private Map<Meter, Reading<Double>> between(long first, long second) {
        // The library may touch all of the struct, though it reads only so many metrics.
        ByteBuffer asked = Nvml.struct(NvmlLayout.GPM_METRICS_SIZE)
                .putInt(NvmlLayout.GPM_METRICS_VERSION, NvmlConstants.GPM_METRICS_VERSION)
                .putInt(NvmlLayout.GPM_METRICS_COUNT, METRICS.size())
                .putLong(NvmlLayout.GPM_METRICS_FIRST, first)
                .putLong(NvmlLayout.GPM_METRICS_SECOND, second);
        for (int i = 0; i < METRICS.size(); i++) {
            asked.putInt(at(i) + NvmlLayout.GPM_METRIC_ID, METRICS.get(i).id());
        }
        int code = Nvml.code(() -> nvml.library().nvmlGpmMetricsGet(asked));
        Map<Meter, Reading<Double>> readings = new EnumMap<>(Meter.class);
        for (int i = 0; i < METRICS.size(); i++) {
            Metric metric = METRICS.get(i);
            int at = at(i);
            int own = code == NvmlConstants.SUCCESS ? asked.getInt(at + NvmlLayout.GPM_METRIC_RETURN) : code;
            readings.put(
                    metric.meter(),
                    Nvml.reading(own, () -> asked.getDouble(at + NvmlLayout.GPM_METRIC_VALUE) * metric.perUnit()));
        }
        return readings;
    }

    private static int at(int metric) {
        return NvmlLayout.GPM_METRICS_METRICS + metric * NvmlLayout.GPM_METRIC_SIZE;
    }

    private static Map<Meter, Reading<Double>> unavailable(String reason) {
        Map<Meter, Reading<Double>> readings = new EnumMap<>(Meter.class);
        METRICS.forEach(metric -> readings.put(metric.meter(), new Unavailable<>(reason)));
        return readings;
    }

    /** Frees the samples of everything else. */
    void keepOnly(Set<String> uuids) {
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
