package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Reads what takes long: checksum of the InfoROM, GPM samples, PCIe throughput. A reading is used again until it is too old;
 * {@link NvmlCallInterval} has the intervals.
 */
public final class SlowReadingsReader {
    private static final double KILO = 1000;

    private final Nvml nvml;
    private final GpmReader gpm;
    private final InfoRomValidator infoRoms;
    private final long maxAgeNanos;
    private final LongSupplier nanoTime;
    private final Map<String, Boolean> gpmSupported = new ConcurrentHashMap<>();
    private final Map<String, SlowReadings> last = new ConcurrentHashMap<>();

    /** Creates a reader; {@code maxAge} is that of GPM samples and PCIe throughput. */
    public SlowReadingsReader(Nvml nvml, InfoRomValidator infoRoms, Duration maxAge, LongSupplier nanoTime) {
        this.nvml = nvml;
        this.gpm = new GpmReader(nvml);
        this.infoRoms = infoRoms;
        this.maxAgeNanos = maxAge.toNanos();
        this.nanoTime = nanoTime;
    }

    /**
     * Slow readings of a GPU.
     *
     * @param migInstances metrics by UUID of the MIG instance
     */
    record SlowReadings(
            long takenNanos,
            Reading<Boolean> infoRomValid,
            Map<GpuMetric, Reading<Double>> metrics,
            Map<String, Map<GpuMetric, Reading<Double>>> migInstances) {}

    /** Whether the readings of the GPU are missing, too old, or of other MIG instances. */
    public boolean due(ScannedGpu gpu) {
        return infoRoms.due(gpu.gpu().uuid()) || metricsDue(gpu);
    }

    private boolean metricsDue(ScannedGpu gpu) {
        SlowReadings before = last.get(gpu.gpu().uuid());
        return before == null
                || nanoTime.getAsLong() - before.takenNanos() >= maxAgeNanos
                || !before.migInstances().keySet().equals(migUuids(gpu));
    }

    /** Reads of the GPU what is due. */
    public void read(ScannedGpu gpu) {
        String uuid = gpu.gpu().uuid();
        Reading<Boolean> infoRomValid = infoRoms.read(uuid, () -> infoRom(gpu.device()));
        SlowReadings before = last.get(uuid);
        last.put(
                uuid,
                before == null || metricsDue(gpu)
                        ? new SlowReadings(nanoTime.getAsLong(), infoRomValid, metrics(gpu), ofMigInstances(gpu))
                        : new SlowReadings(before.takenNanos(), infoRomValid, before.metrics(), before.migInstances()));
    }

    /** Newest readings of a GPU; it was read before. */
    public SlowReadings latest(ScannedGpu gpu) {
        return Objects.requireNonNull(last.get(gpu.gpu().uuid()));
    }

    private Reading<Boolean> infoRom(Nvml.Handle device) {
        int code = Nvml.code(() -> nvml.library().nvmlDeviceValidateInforom(device.address()));
        return switch (code) {
            case NvmlConstants.SUCCESS -> new Known<>(true);
            case NvmlConstants.CORRUPTED_INFOROM -> new Known<>(false);
            default -> new Unavailable<>(NvmlReturnCode.name(code));
        };
    }

    private Map<GpuMetric, Reading<Double>> metrics(ScannedGpu gpu) {
        boolean samples = supportsGpm(gpu);
        Map<GpuMetric, Reading<Double>> metrics =
                samples ? gpm.ofGpu(gpu.gpu().uuid(), gpu.device()) : new EnumMap<>(GpuMetric.class);
        if (!samples) {
            metrics.put(GpuMetric.PCIE_SENT_BYTES_PER_SECOND, throughput(gpu.device(), NvmlConstants.PCIE_SENT));
            metrics.put(
                    GpuMetric.PCIE_RECEIVED_BYTES_PER_SECOND, throughput(gpu.device(), NvmlConstants.PCIE_RECEIVED));
        }
        return metrics;
    }

    private boolean supportsGpm(ScannedGpu gpu) {
        return gpmSupported.computeIfAbsent(gpu.gpu().uuid(), _ -> gpm.supported(gpu.device()));
    }

    private Reading<Double> throughput(Nvml.Handle device, int counter) {
        return Nvml.number(out -> nvml.library().nvmlDeviceGetPcieThroughput(device.address(), counter, out))
                .map(value -> Integer.toUnsignedLong(value) * KILO);
    }

    private Map<String, Map<GpuMetric, Reading<Double>>> ofMigInstances(ScannedGpu gpu) {
        Map<String, Map<GpuMetric, Reading<Double>>> byInstance = new HashMap<>();
        for (MigReader.ScannedMigInstance mig : gpu.migInstances()) {
            String uuid = mig.instance().uuid();
            byInstance.put(
                    uuid,
                    supportsGpm(gpu)
                            ? gpm.ofMigInstance(
                                    uuid, gpu.device(), mig.instance().gpuInstance())
                            : Map.of());
        }
        return byInstance;
    }

    private static Set<String> migUuids(ScannedGpu gpu) {
        Set<String> uuids = new HashSet<>();
        gpu.migInstances().forEach(mig -> uuids.add(mig.instance().uuid()));
        return uuids;
    }

    /** Forgets all other GPUs and instances and frees their samples. */
    public void retainOnly(List<ScannedGpu> gpus) {
        Set<String> uuids = new HashSet<>();
        for (ScannedGpu gpu : gpus) {
            uuids.add(gpu.gpu().uuid());
            uuids.addAll(migUuids(gpu));
        }
        gpm.retainOnly(uuids);
        infoRoms.retainOnly(uuids);
        last.keySet().retainAll(uuids);
    }

    /** Frees all samples, at the end of the session. */
    public void close() {
        gpm.retainOnly(Set.of());
        last.clear();
    }
}
