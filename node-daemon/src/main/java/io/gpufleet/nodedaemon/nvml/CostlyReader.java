package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.NvmlSession.Tracked;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
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
 * Reads what takes long: checksum of the InfoROM, performance samples, PCIe throughput (20 ms each way without samples). A
 * reading is used again until it is old, for a fault has the GPUs asked at once, and again.
 */
final class CostlyReader {
    private static final double KILO = 1000;

    private final Nvml nvml;
    private final Gpm gpm;
    private final long oldNanos;
    private final LongSupplier nanoTime;
    private final Map<String, Boolean> sampled = new ConcurrentHashMap<>();
    private final Map<String, Costly> last = new ConcurrentHashMap<>();

    CostlyReader(Nvml nvml, Duration old, LongSupplier nanoTime) {
        this.nvml = nvml;
        this.gpm = new Gpm(nvml);
        this.oldNanos = old.toNanos();
        this.nanoTime = nanoTime;
    }

    /**
     * What was read.
     *
     * @param slices by UUID of the MIG instance
     */
    record Costly(
            long takenNanos,
            Reading<Boolean> infoRomValid,
            Map<Meter, Reading<Double>> meters,
            Map<String, Map<Meter, Reading<Double>>> slices) {}

    /** Whether {@link #read} would ask the GPU. */
    boolean due(Tracked gpu) {
        Costly before = last.get(gpu.gpu().uuid());
        return before == null
                || nanoTime.getAsLong() - before.takenNanos() >= oldNanos
                || !before.slices().keySet().equals(slices(gpu));
    }

    /** Asks the GPU. */
    void read(Tracked gpu) {
        String uuid = gpu.gpu().uuid();
        Costly fresh = new Costly(nanoTime.getAsLong(), infoRom(gpu.device()), meters(gpu), ofSlices(gpu));
        last.put(uuid, fresh);
    }

    /** The newest reading of a GPU that was read. */
    Costly newest(Tracked gpu) {
        return Objects.requireNonNull(last.get(gpu.gpu().uuid()));
    }

    private Reading<Boolean> infoRom(Nvml.Handle device) {
        int code = Nvml.code(() -> nvml.library().nvmlDeviceValidateInforom(device.address()));
        return switch (code) {
            case NvmlConstants.SUCCESS -> new Known<>(true);
            case NvmlConstants.CORRUPTED_INFOROM -> new Known<>(false);
            default -> new Unavailable<>(ReturnCode.name(code));
        };
    }

    private Map<Meter, Reading<Double>> meters(Tracked gpu) {
        boolean samples = samples(gpu);
        Map<Meter, Reading<Double>> meters =
                samples ? gpm.whole(gpu.gpu().uuid(), gpu.device()) : new EnumMap<>(Meter.class);
        if (!samples) {
            meters.put(Meter.PCIE_SENT_BYTES_PER_SECOND, throughput(gpu.device(), NvmlConstants.PCIE_SENT));
            meters.put(Meter.PCIE_RECEIVED_BYTES_PER_SECOND, throughput(gpu.device(), NvmlConstants.PCIE_RECEIVED));
        }
        return meters;
    }

    private boolean samples(Tracked gpu) {
        return sampled.computeIfAbsent(gpu.gpu().uuid(), _ -> gpm.supported(gpu.device()));
    }

    private Reading<Double> throughput(Nvml.Handle device, int counter) {
        return Nvml.number(out -> nvml.library().nvmlDeviceGetPcieThroughput(device.address(), counter, out))
                .map(value -> Integer.toUnsignedLong(value) * KILO);
    }

    private Map<String, Map<Meter, Reading<Double>>> ofSlices(Tracked gpu) {
        Map<String, Map<Meter, Reading<Double>>> slices = new HashMap<>();
        for (MigReader.Slice slice : gpu.slices()) {
            String uuid = slice.instance().uuid();
            slices.put(
                    uuid,
                    samples(gpu)
                            ? gpm.slice(uuid, gpu.device(), slice.instance().gpuInstance())
                            : Map.of());
        }
        return slices;
    }

    private static Set<String> slices(Tracked gpu) {
        Set<String> uuids = new HashSet<>();
        gpu.slices().forEach(slice -> uuids.add(slice.instance().uuid()));
        return uuids;
    }

    /** Forgets every GPU and instance but these; by none of them nothing of the library's memory is left. */
    void keepOnly(List<Tracked> gpus) {
        Set<String> uuids = new HashSet<>();
        for (Tracked gpu : gpus) {
            uuids.add(gpu.gpu().uuid());
            uuids.addAll(slices(gpu));
        }
        gpm.keepOnly(uuids);
        last.keySet().retainAll(uuids);
    }
}
