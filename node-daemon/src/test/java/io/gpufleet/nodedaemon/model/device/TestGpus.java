package io.gpufleet.nodedaemon.model.device;

import io.gpufleet.nodedaemon.model.allocation.GpuPartition;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** GPUs, scans and samples for tests. */
public final class TestGpus {
    /** A policy that withdraws for XIDs 48 and 79, with a dwell of five minutes. */
    public static final FaultPolicy POLICY = new FaultPolicy(Set.of(48, 79), Duration.ofMinutes(5), XidOverrides.NONE);

    /** A subject whose energy was never read. */
    public static final OpenFault.Subject SUBJECT =
            new OpenFault.Subject("", "H100", new Reading.Unavailable<>("NOT_SUPPORTED"));

    private TestGpus() {}

    /** A whole GPU offered without sharing. */
    public static OfferedDevice offer(int index, boolean healthy, String reason) {
        return new OfferedDevice(
                uuid(index),
                gpu(index),
                new GpuPartition.FullGpu(),
                ResourcePlan.GPU,
                1,
                new OfferedDevice.Health(healthy, true, false, reason));
    }

    /** The moment that many seconds after the start of the test's clock. */
    public static Moment second(double seconds) {
        long nanos = Math.round(seconds * 1e9);
        return new Moment(Instant.parse("2026-11-20T10:00:00Z").plusNanos(nanos), nanos);
    }

    /** The UUID of {@link #gpu}. */
    public static String uuid(int index) {
        return "GPU-0000000" + index;
    }

    /** One GPU of a node. */
    public static Gpu gpu(int index) {
        return new Gpu(
                new Gpu.Identifiers(
                        uuid(index),
                        new Reading.Known<>("serial-" + index),
                        index,
                        index,
                        "0000000" + index + ":00:00.0",
                        new Reading.Unavailable<>("NOT_SUPPORTED")),
                new Gpu.Product("NVIDIA H100 80GB HBM3", "H100", "hopper", "9.0", new Reading.Known<>("compute")),
                new Reading.Known<>(80L << 30),
                new Gpu.Topology(
                        new Reading.Known<>(index / 4),
                        List.of(),
                        new Reading.Unavailable<>("NOT_SUPPORTED"),
                        new Reading.Unavailable<>("not read")),
                new Gpu.Mig(new Reading.Known<>(false), List.of()),
                new Reading.Unavailable<>("not read"));
    }

    /** A scan that finds that many GPUs. */
    public static DeviceScan.ScanSucceeded scanOf(int gpus) {
        return new DeviceScan.ScanSucceeded(
                "570.124.06",
                "12.8",
                IntStream.range(0, gpus).mapToObj(TestGpus::gpu).toList(),
                List.of());
    }

    /** An XID of a GPU. */
    public static DeviceEvent.FaultDetected xid(int gpu, int code, FaultOrigin origin) {
        return new DeviceEvent.FaultDetected(uuid(gpu), "", new FaultCode.Xid(code), origin, "Xid " + code);
    }

    /** The sample of a GPU that responds and reports little else. */
    public static GpuSample sampleOf(int gpu, Reading<RecoveryAction> action) {
        Reading<Integer> none = new Reading.Unavailable<>("NOT_SUPPORTED");
        Reading<Long> noneEither = new Reading.Unavailable<>("NOT_SUPPORTED");
        return new GpuSample(
                uuid(gpu),
                new Reading.Known<>(true),
                action,
                new DeviceSample(
                        new DeviceSample.Utilization(none, none),
                        noneEither,
                        new DeviceSample.Power(none, noneEither),
                        none,
                        new DeviceSample.Clocks(none, none, noneEither),
                        noneEither),
                GpuMetricReadings.NONE,
                HealthReadings.unavailable("not read"),
                new Reading.Unavailable<>("not read"),
                List.of());
    }
}
