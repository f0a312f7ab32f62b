package io.gpufleet.nodedaemon.app.counters;

import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultNames;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Counters of the daemon; written by any thread, read by the metrics page. */
public final class DaemonCounters {
    private final Map<String, LongAdder> faults = new ConcurrentHashMap<>();
    private final LongAdder allocations = new LongAdder();
    private final LatencyHistogram allocationLatency = new LatencyHistogram();
    private final Map<String, LatencyHistogram> deviceCalls = new ConcurrentHashMap<>();
    private final FaultOccurrenceCounters faultCounters = new FaultOccurrenceCounters();
    private final LongAdder refusals = new LongAdder();
    private final LongAdder registrations = new LongAdder();
    private final LongAdder registrationFailures = new LongAdder();
    private final LongAdder offersHealthy = new LongAdder();
    private final LongAdder offersWithdrawn = new LongAdder();

    /** A fault was observed. */
    public void fault(FaultKey key, long nanos) {
        faults.computeIfAbsent(FaultNames.of(key.fault()), _ -> new LongAdder()).increment();
        faultCounters.observed(key, nanos);
    }

    /** A fault of an earlier process is still open. */
    public void faultRestored(FaultKey key) {
        faultCounters.restored(key);
    }

    /** The devices were sampled. */
    public void polled(List<GpuSample> all, long nanos) {
        for (GpuSample sample : all) {
            if (sample.device().clocks().eventReasons() instanceof Reading.Known<Long>(Long reasons)) {
                faultCounters.clockEvents(sample.gpuUuid(), reasons, nanos);
            }
        }
    }

    /** A call of the device source returned. */
    public void deviceCall(String call, long nanos) {
        deviceCalls.computeIfAbsent(call, _ -> new LatencyHistogram()).observe(nanos);
    }

    /** An Allocate call succeeded. */
    public void allocated(long micros) {
        allocations.increment();
        allocationLatency.observe(TimeUnit.MICROSECONDS.toNanos(micros));
    }

    /** An Allocate call was refused. */
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

    /** The health of a device as reported to the kubelet changed. */
    public void offerChanged(boolean healthy) {
        (healthy ? offersHealthy : offersWithdrawn).increment();
    }

    /** Returns observations by fault name. */
    public Map<String, Long> faults() {
        return faults.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().sum(), (a, b) -> a, TreeMap::new));
    }

    /** Returns the fault counters of each GPU. */
    public FaultOccurrenceCounters faultCounters() {
        return faultCounters;
    }

    /** Returns the duration of successful Allocate calls. */
    public LatencyHistogram.Snapshot allocationLatency() {
        return allocationLatency.read();
    }

    /** Returns the duration of device source calls, by name. */
    public SortedMap<String, LatencyHistogram.Snapshot> deviceCalls() {
        var read = new TreeMap<String, LatencyHistogram.Snapshot>();
        deviceCalls.forEach((call, latencies) -> read.put(call, latencies.read()));
        return read;
    }

    /** Returns changes of a device's health as reported to the kubelet, by new health. */
    public Map<String, Long> offerChanges() {
        return new TreeMap<>(Map.of("healthy", offersHealthy.sum(), "unhealthy", offersWithdrawn.sum()));
    }

    /** Returns all other counters by metric name. */
    public Map<String, Long> sums() {
        var sums = new TreeMap<String, Long>();
        sums.put("gpufleet_daemon_allocations_total", allocations.sum());
        sums.put("gpufleet_daemon_allocations_refused_total", refusals.sum());
        sums.put("gpufleet_daemon_registrations_total", registrations.sum());
        sums.put("gpufleet_daemon_registration_failures_total", registrationFailures.sum());
        return sums;
    }
}
