package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.Names;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What the daemon counts about itself; written from anywhere, read by the metrics page. */
public final class Counters {
    private final Map<String, LongAdder> faults = new ConcurrentHashMap<>();
    private final LongAdder allocations = new LongAdder();
    private final LongAdder allocationMicros = new LongAdder();
    private final LongAdder refusals = new LongAdder();
    private final LongAdder registrations = new LongAdder();
    private final LongAdder registrationFailures = new LongAdder();
    private final LongAdder offersChanged = new LongAdder();

    /** A fault was observed. */
    public void fault(FaultCode code) {
        faults.computeIfAbsent(Names.of(code), _ -> new LongAdder()).increment();
    }

    /** Allocate was granted. */
    public void allocated(long micros) {
        allocations.increment();
        allocationMicros.add(micros);
    }

    /** Allocate was refused. */
    public void refused() {
        refusals.increment();
    }

    /** The kubelet answered Register. */
    public void registered() {
        registrations.increment();
    }

    /** Register failed. */
    public void registrationFailed() {
        registrationFailures.increment();
    }

    /** What the kubelet is told of a device changed. */
    public void offerChanged() {
        offersChanged.increment();
    }

    /** Observations by the name of the fault. */
    public Map<String, Long> faults() {
        return faults.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().sum(), (a, b) -> a, java.util.TreeMap::new));
    }

    /** Everything else, by metric name. */
    public Map<String, Long> sums() {
        var sums = new java.util.TreeMap<String, Long>();
        sums.put("gpufleet_daemon_allocations_total", allocations.sum());
        sums.put("gpufleet_daemon_allocation_microseconds_total", allocationMicros.sum());
        sums.put("gpufleet_daemon_allocations_refused_total", refusals.sum());
        sums.put("gpufleet_daemon_registrations_total", registrations.sum());
        sums.put("gpufleet_daemon_registration_failures_total", registrationFailures.sum());
        sums.put("gpufleet_daemon_offer_changes_total", offersChanged.sum());
        return sums;
    }
}
