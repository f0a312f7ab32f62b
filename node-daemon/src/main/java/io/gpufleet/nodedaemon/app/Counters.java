package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.Names;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What the daemon counts about itself; written from anywhere, read by the metrics page. */
public final class Counters {
    private final Map<String, LongAdder> faults = new ConcurrentHashMap<>();
    private final LongAdder allocations = new LongAdder();
    private final Latencies allocationLatency = new Latencies();
    private final Map<String, Latencies> deviceCalls = new ConcurrentHashMap<>();
    private final FaultTally tally = new FaultTally();
    private final LongAdder refusals = new LongAdder();
    private final LongAdder registrations = new LongAdder();
    private final LongAdder registrationFailures = new LongAdder();
    private final LongAdder offersGiven = new LongAdder();
    private final LongAdder offersWithdrawn = new LongAdder();

    /** A fault was observed. */
    public void fault(FaultKey key, long nanos) {
        faults.computeIfAbsent(Names.of(key.fault()), _ -> new LongAdder()).increment();
        tally.observed(key, nanos);
    }

    /** A fault of an earlier start is still open. */
    public void inherited(FaultKey key) {
        tally.inherited(key);
    }

    /** The devices said how they are. */
    public void polled(List<Vitals> all, long nanos) {
        for (Vitals vitals : all) {
            if (vitals.clockEventReasons() instanceof Reading.Known<Long>(Long reasons)) {
                tally.clockEvents(vitals.gpuUuid(), reasons, nanos);
            }
        }
    }

    /** A call of the device source took so long. */
    public void deviceCall(String call, long nanos) {
        deviceCalls.computeIfAbsent(call, _ -> new Latencies()).took(nanos);
    }

    /** Allocate was granted. */
    public void allocated(long micros) {
        allocations.increment();
        allocationLatency.took(TimeUnit.MICROSECONDS.toNanos(micros));
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
    public void offerChanged(boolean healthy) {
        (healthy ? offersGiven : offersWithdrawn).increment();
    }

    /** Observations by the name of the fault. */
    public Map<String, Long> faults() {
        return faults.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().sum(), (a, b) -> a, TreeMap::new));
    }

    /** What happened to each GPU. */
    public FaultTally tally() {
        return tally;
    }

    /** How long Allocate took where it was granted. */
    public Latencies.Histogram allocationLatency() {
        return allocationLatency.read();
    }

    /** How long calls of the device source took, by name. */
    public SortedMap<String, Latencies.Histogram> deviceCalls() {
        var read = new TreeMap<String, Latencies.Histogram>();
        deviceCalls.forEach((call, latencies) -> read.put(call, latencies.read()));
        return read;
    }

    /** Changes of what the kubelet is told of a device, by what it was told. */
    public Map<String, Long> offerChanges() {
        return new TreeMap<>(Map.of("healthy", offersGiven.sum(), "unhealthy", offersWithdrawn.sum()));
    }

    /** Everything else, by metric name. */
    public Map<String, Long> sums() {
        var sums = new TreeMap<String, Long>();
        sums.put("gpufleet_daemon_allocations_total", allocations.sum());
        sums.put("gpufleet_daemon_allocations_refused_total", refusals.sum());
        sums.put("gpufleet_daemon_registrations_total", registrations.sum());
        sums.put("gpufleet_daemon_registration_failures_total", registrationFailures.sum());
        return sums;
    }
}
