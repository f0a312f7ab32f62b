package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.app.device.PciDevices;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors;
import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors.PendingCall;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import io.gpufleet.nodedaemon.nvml.reader.GpuReader;
import io.gpufleet.nodedaemon.nvml.reader.GpuSampleReader;
import io.gpufleet.nodedaemon.nvml.reader.MigCapabilityNodes;
import io.gpufleet.nodedaemon.nvml.reader.MigReader;
import io.gpufleet.nodedaemon.nvml.reader.NvLinkBaseline;
import io.gpufleet.nodedaemon.nvml.reader.NvLinkRates;
import io.gpufleet.nodedaemon.nvml.reader.SlowReadingsReader;
import io.gpufleet.nodedaemon.nvml.reader.TrackedGpu;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** NVML from one initialisation to its shutdown: the tracked GPUs, and the wait for their events. */
final class NvmlSession {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSession.class);

    /** Time for which the GPUs that have answered wait for one that has not; it is read by the next poll then. */
    private static final Duration STRAGGLER_WAIT = Duration.ofSeconds(2);

    private final Nvml nvml;
    private final NvmlExecutors executors;
    private final NvmlSettings settings;
    private final ReportedFaults reportedFaults;
    private final NvLinkBaseline baseline;
    private final GpuReader gpus;
    private final MigReader migs;
    private final GpuSampleReader samples;
    private final SlowReadingsReader slowReadings;
    private final NvmlSystemEventSet systemEvents;
    private final NvmlEventSubscription subscription;
    private final String driverVersion;
    private final String cudaVersion;
    private final Map<Integer, Gpu> lastSeen;
    private volatile List<TrackedGpu> tracked = List.of();

    /** What is kept over a reopening of NVML. */
    record SessionContext(
            NvmlSettings settings,
            NvmlExecutors executors,
            ReportedFaults reportedFaults,
            Map<Integer, Gpu> lastSeen,
            NvLinkBaseline baseline,
            PciDevices pci) {}

    private NvmlSession(Nvml nvml, SessionContext context, String driverVersion, String cudaVersion) {
        this.nvml = nvml;
        this.executors = context.executors();
        this.settings = context.settings();
        this.reportedFaults = context.reportedFaults();
        this.baseline = context.baseline();
        this.lastSeen = context.lastSeen();
        this.gpus = new GpuReader(nvml, context.pci());
        this.migs = new MigReader(nvml, new MigCapabilityNodes(settings.proc()));
        this.samples = new GpuSampleReader(nvml, context.baseline(), new NvLinkRates(System::nanoTime));
        this.slowReadings = new SlowReadingsReader(nvml, settings.slowReadingMaxAge(), System::nanoTime);
        this.systemEvents = NvmlSystemEventSet.register(nvml);
        this.subscription = new NvmlEventSubscription(
                executors,
                settings,
                new NvmlEventMapper(this::findByHandle, reportedFaults, slowReadings::requestInfoRom));
        this.driverVersion = driverVersion;
        this.cudaVersion = cudaVersion;
    }

    static NvmlSession open(Nvml nvml, SessionContext context) throws NvmlFailure {
        return context.executors()
                .call(
                        NvmlExecutors.DRIVER,
                        "nvmlSystemGetDriverVersion",
                        () -> new NvmlSession(
                                nvml,
                                context,
                                nvml.driverVersion(),
                                nvml.cudaVersion().orElse("")));
    }

    /** Scans by index: a GPU that fails is lost, and only a failure of the driver fails the scan. */
    DeviceScan.ScanSucceeded scan() throws NvmlFailure {
        int count = executors.call(NvmlExecutors.DRIVER, "nvmlDeviceGetCount", nvml::count);
        List<TrackedGpu> found = new ArrayList<>();
        List<DeviceScan.LostGpu> lost = new ArrayList<>();
        List<PendingCall<TrackedGpu>> reads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = i;
            reads.add(executors.start(index, "nvmlDeviceGetHandleByIndex", () -> read(index)));
        }
        for (int index = 0; index < count; index++) {
            try {
                found.add(await(index, reads.get(index)));
            } catch (NvmlFailure e) {
                if (e.concernsDriver()) {
                    throw e;
                }
                lost.add(lost(index, e));
            }
        }
        found.forEach(gpu -> baseline.observe(gpu.gpu()));
        subscribe(found);
        return new DeviceScan.ScanSucceeded(
                driverVersion,
                cudaVersion,
                found.stream().map(TrackedGpu::gpu).toList(),
                lost,
                gpus.pci().gpuAddresses());
    }

    /** A GPU that is known and still busy stays as it was: whether it hangs is not yet known, and the others do not wait. */
    private TrackedGpu await(int index, PendingCall<TrackedGpu> read) throws NvmlFailure {
        Optional<TrackedGpu> before =
                tracked.stream().filter(gpu -> gpu.gpu().index() == index).findFirst();
        try {
            TrackedGpu now = before.isPresent() ? read.await(STRAGGLER_WAIT) : read.await();
            reportedFaults.onAnswer(now.gpu().uuid());
            return now;
        } catch (NvmlFailure e) {
            if (e.code() == NvmlReturnCode.BUSY && before.isPresent()) {
                return before.get();
            }
            throw e;
        }
    }

    private TrackedGpu read(int index) throws NvmlFailure {
        Nvml.Handle device = nvml.handle(index);
        String uuid = nvml.uuid(device);
        Optional<TrackedGpu> before = tracked.stream()
                .filter(gpu -> gpu.gpu().uuid().equals(uuid) && gpu.gpu().index() == index)
                .findFirst();
        TrackedGpu now = before.isPresent()
                ? withMigInstances(
                        gpus.refresh(before.get().gpu(), device),
                        device,
                        before.get().migInstances())
                : withMigInstances(gpus.read(index, device), device, List.of());
        lastSeen.put(index, now.gpu());
        samples.checkResponds(device);
        return now;
    }

    private TrackedGpu withMigInstances(Gpu gpu, Nvml.Handle device, List<MigReader.TrackedMigInstance> before)
            throws NvmlFailure {
        List<MigReader.TrackedMigInstance> migInstances =
                gpu.mig().enabled().orElse(false) ? migs.read(gpu, device, before) : List.of();
        List<MigInstance> instances = migInstances.stream()
                .map(MigReader.TrackedMigInstance::instance)
                .toList();
        return new TrackedGpu(
                instances.equals(gpu.instances()) ? gpu : gpu.withMig(gpu.mig().enabled(), instances),
                device,
                migInstances);
    }

    private DeviceScan.LostGpu lost(int index, NvmlFailure why) {
        Gpu before = lastSeen.get(index);
        if (before != null) {
            reportedFaults.onFailure(before.uuid(), why);
        }
        return new DeviceScan.LostGpu(index, before == null ? "" : before.pciBusId(), why.name());
    }

    private void subscribe(List<TrackedGpu> found) throws NvmlFailure {
        boolean same = subscription.isActive() && registered(found).equals(registered(tracked));
        tracked = List.copyOf(found);
        releaseAllBut(tracked);
        if (!same) {
            NvmlEventSet events =
                    executors.call(NvmlExecutors.DRIVER, "nvmlEventSetCreate", () -> NvmlEventSet.create(nvml));
            register(events, found);
            subscription.switchTo(events);
        }
    }

    /** A GPU whose registration fails is only polled. */
    private void register(NvmlEventSet events, List<TrackedGpu> found) throws NvmlFailure {
        Map<TrackedGpu, PendingCall<Boolean>> registrations = new LinkedHashMap<>();
        found.forEach(gpu -> registrations.put(
                gpu,
                executors.start(gpu.gpu().index(), "nvmlDeviceRegisterEvents", () -> events.register(gpu.device()))));
        for (Map.Entry<TrackedGpu, PendingCall<Boolean>> registration : registrations.entrySet()) {
            try {
                registration.getValue().await(STRAGGLER_WAIT);
            } catch (NvmlFailure e) {
                if (e.concernsDriver()) {
                    throw e;
                }
                reportedFaults.onFailure(registration.getKey().gpu().uuid(), e);
            }
        }
    }

    /** Frees nothing while a call hangs, since the call may still write to that memory. */
    private void releaseAllBut(List<TrackedGpu> gpus) throws NvmlFailure {
        if (executors.idle()) {
            executors.call(NvmlExecutors.DRIVER, "nvmlGpmSampleFree", () -> {
                slowReadings.retainOnly(gpus);
                return "";
            });
        }
    }

    /** The GPU behind each handle; a GPU that replaced another must be registered again. */
    private static Map<String, Nvml.Handle> registered(List<TrackedGpu> tracked) {
        return tracked.stream().collect(Collectors.toMap(gpu -> gpu.gpu().uuid(), TrackedGpu::device, (a, _) -> a));
    }

    /** Samples all GPUs of the last scan. */
    List<GpuSample> samples() {
        Map<TrackedGpu, PendingCall<GpuSample>> reads = new LinkedHashMap<>();
        tracked.forEach(gpu ->
                reads.put(gpu, executors.start(gpu.gpu().index(), "nvmlDeviceGetUtilizationRates", () -> read(gpu))));
        checkSystemEvents();
        List<GpuSample> read = new ArrayList<>();
        reads.forEach((gpu, sample) -> read.add(await(gpu, sample)));
        return read;
    }

    private GpuSample read(TrackedGpu gpu) throws NvmlFailure {
        if (slowReadings.due(gpu)) {
            slowReadings.read(gpu);
        }
        return samples.read(gpu, slowReadings.latest(gpu));
    }

    private GpuSample await(TrackedGpu gpu, PendingCall<GpuSample> read) {
        String uuid = gpu.gpu().uuid();
        try {
            return read.await(STRAGGLER_WAIT);
        } catch (NvmlFailure e) {
            reportedFaults.onFailure(uuid, e);
            if (e.code() != NvmlReturnCode.BUSY) {
                reportedFaults.requestScan(uuid + " does not respond: " + e.getMessage());
            }
            return GpuSampleReader.unavailable(uuid, e);
        }
    }

    private void checkSystemEvents() {
        try {
            if (executors.call(NvmlExecutors.DRIVER, "nvmlSystemEventSetWait", systemEvents::occurred)) {
                reportedFaults.requestScan("the driver was bound to a GPU or unbound from one");
            }
        } catch (NvmlFailure e) {
            reportedFaults.requestScan(String.valueOf(e.getMessage()));
        }
    }

    private @Nullable TrackedGpu findByHandle(Nvml.Handle device) {
        return tracked.stream()
                .filter(gpu -> gpu.device().equals(device))
                .findFirst()
                .orElse(null);
    }

    /** Stops waiting, frees the memory of this session, and returns the NVML that is to be shut down. */
    Nvml close() {
        tracked = List.of();
        subscription.stop();
        try {
            releaseAllBut(List.of());
            if (!subscription.abandoned()) {
                executors.call(NvmlExecutors.DRIVER, "nvmlSystemEventSetFree", () -> {
                    systemEvents.free();
                    return "";
                });
            }
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML memory not freed completely");
        }
        return nvml;
    }

    /** How long the wait for events in progress has taken. */
    Duration eventWaitInFlight() {
        return subscription.waitInFlight();
    }

    /** Whether a wait never returned, so that a thread is still inside the library. */
    boolean abandoned() {
        return subscription.abandoned();
    }
}
