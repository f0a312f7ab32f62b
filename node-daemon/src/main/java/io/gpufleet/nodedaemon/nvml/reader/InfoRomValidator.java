package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Validates the InfoROM of each GPU at the interval of {@link NvmlCallInterval#INFO_ROM_VALIDATION}, and when it was requested. Its
 * results outlive a session of NVML: another session is no reason to read the flash memory again.
 */
public final class InfoRomValidator {
    private final LongSupplier nanoTime;
    private final Map<String, Validated> last = new ConcurrentHashMap<>();
    private final Set<String> requested = ConcurrentHashMap.newKeySet();

    private record Validated(long nanos, Reading<Boolean> valid) {}

    /** Creates a reader that has validated nothing. */
    public InfoRomValidator(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Validates with the next sample; calls nothing, and may be called by any thread. */
    public void request(String uuid) {
        requested.add(uuid);
    }

    boolean due(String uuid) {
        Validated before = last.get(uuid);
        return before == null
                || requested.contains(uuid)
                || nanoTime.getAsLong() - before.nanos()
                        >= NvmlCallInterval.INFO_ROM_VALIDATION.interval().toNanos();
    }

    /** Validates if due; returns the newest result. */
    Reading<Boolean> read(String uuid, Supplier<Reading<Boolean>> validation) {
        if (due(uuid)) {
            // First, since an event during the validation asks for another one.
            requested.remove(uuid);
            last.put(uuid, new Validated(nanoTime.getAsLong(), validation.get()));
        }
        Validated newest = last.get(uuid);
        return newest == null ? new Unavailable<>("not read") : newest.valid();
    }

    void retainOnly(Set<String> uuids) {
        last.keySet().retainAll(uuids);
        requested.retainAll(uuids);
    }
}
