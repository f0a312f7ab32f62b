package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.device.DeviceScan.LostGpu;
import io.gpufleet.nodedaemon.model.device.DeviceScan.ScanSucceeded;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Decides when NVML is initialised again because the GPUs that the kernel has bound to the driver are not those of the session,
 * which never sees GPUs that came after its initialisation. The difference may last, for example while the driver cannot
 * initialise one of them: each attempt that changed nothing doubles the time to the next.
 */
final class SessionRenewalPolicy {
    private static final Duration FIRST_DELAY = Duration.ofSeconds(5);
    private static final Duration MAX_DELAY = Duration.ofMinutes(10);
    private static final Difference NONE = new Difference(Set.of(), Set.of());

    private final LongSupplier nanoTime;
    private Difference attempted = NONE;
    private Duration delay = FIRST_DELAY;
    private long attemptedNanos;
    private OptionalLong postponedSince = OptionalLong.empty();
    private boolean postponementReported;

    /** Addresses of the GPUs of both sides. */
    private record Difference(Set<PciAddress> kernel, Set<PciAddress> session) {}

    SessionRenewalPolicy(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether NVML is to be initialised now; the caller calls {@link #attempt} if it does so. */
    boolean isDue(Reading<List<String>> bound, ScanSucceeded scan) {
        Difference difference = difference(bound, scan);
        if (difference.equals(NONE)) {
            attempted = NONE;
            notPostponed();
            return false;
        }
        return !difference.equals(attempted) || nanoTime.getAsLong() - attemptedNanos >= delay.toNanos();
    }

    /** Counts an initialisation. */
    void attempt(Reading<List<String>> bound, ScanSucceeded scan) {
        Difference difference = difference(bound, scan);
        delay = difference.equals(attempted) ? shorter(delay.multipliedBy(2), MAX_DELAY) : FIRST_DELAY;
        attempted = difference;
        attemptedNanos = nanoTime.getAsLong();
        notPostponed();
    }

    /**
     * Notes that an initialisation which is due has to wait for a call in progress; true once, when it has waited that long: a
     * call of one GPU that never returns must not hide GPUs that came.
     */
    boolean postponed(Duration limit) {
        long now = nanoTime.getAsLong();
        long since = postponedSince.orElse(now);
        postponedSince = OptionalLong.of(since);
        boolean report = !postponementReported && now - since >= limit.toNanos();
        postponementReported |= report;
        return report;
    }

    private void notPostponed() {
        postponedSince = OptionalLong.empty();
        postponementReported = false;
    }

    /** Without the address of each lost GPU only the numbers can be compared. */
    private static Difference difference(Reading<List<String>> bound, ScanSucceeded scan) {
        if (!(bound instanceof Known<List<String>>(List<String> listed))) {
            return NONE;
        }
        List<String> busIds =
                new ArrayList<>(scan.gpus().stream().map(Gpu::pciBusId).toList());
        scan.lost().stream().map(LostGpu::pciBusId).forEach(busIds::add);
        Set<PciAddress> kernel = KnownGpus.addresses(listed);
        Set<PciAddress> session = KnownGpus.addresses(busIds);
        boolean same = session.size() < busIds.size() ? kernel.size() == busIds.size() : kernel.equals(session);
        return same ? NONE : new Difference(kernel, session);
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
