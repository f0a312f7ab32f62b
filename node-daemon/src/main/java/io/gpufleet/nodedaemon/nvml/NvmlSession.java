package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import io.gpufleet.nodedaemon.nvml.call.PendingCall;
import io.gpufleet.nodedaemon.nvml.reader.ExpectedNvLinkCount;
import io.gpufleet.nodedaemon.nvml.reader.GpuReader;
import io.gpufleet.nodedaemon.nvml.reader.GpuSampleReader;
import io.gpufleet.nodedaemon.nvml.reader.MigCapabilityNodes;
import io.gpufleet.nodedaemon.nvml.reader.MigReader;
import io.gpufleet.nodedaemon.nvml.reader.NvLinkRates;
import io.gpufleet.nodedaemon.nvml.reader.ScannedGpu;
import io.gpufleet.nodedaemon.nvml.reader.SlowReadingsReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** NVML from one initialisation to its shutdown: the tracked GPUs, and the wait for their events. */
final class NvmlSession {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSession.class);

    private static final Duration OVERDUE_WAIT = NvmlSettings.EVENT_WAIT_TIMEOUT.multipliedBy(2);

    private final InitialisedNvml initialisation;
    private final Nvml nvml;
    private final NvmlExecutors executors;
    private final NvmlSettings settings;
    private final NvmlFaultReporter reportedFaults;
    private final ExpectedNvLinkCount baseline;
    private final GpuReader gpus;
    private final MigReader migs;
    private final GpuSampleReader samples;
    private final SlowReadingsReader slowReadings;
    private final NvmlEventSubscription subscription;
    private final String driverVersion;
    private final String cudaVersion;
    private final KnownGpus known;
    private volatile List<ScannedGpu> tracked = List.of();
    private boolean driverEvents;

    private NvmlSession(
            InitialisedNvml initialisation, SessionContext context, String driverVersion, String cudaVersion) {
        this.initialisation = initialisation;
        this.nvml = initialisation.nvml();
        this.executors = context.executors();
        this.settings = context.settings();
        this.reportedFaults = context.reportedFaults();
        this.baseline = context.baseline();
        this.known = context.known();
        this.gpus = new GpuReader(nvml, context.pci());
        this.migs = new MigReader(nvml, new MigCapabilityNodes(settings.proc()));
        this.samples = new GpuSampleReader(nvml, context.baseline(), new NvLinkRates(System::nanoTime));
        this.slowReadings =
                new SlowReadingsReader(nvml, context.infoRoms(), settings.slowReadingMaxAge(), System::nanoTime);
        this.subscription = new NvmlEventSubscription(
                nvml, context, new NvmlEventMapper(this::findByHandle, reportedFaults, context.infoRoms()::request));
        this.driverVersion = driverVersion;
        this.cudaVersion = cudaVersion;
    }

    static NvmlSession open(InitialisedNvml initialisation, SessionContext context) throws NvmlFailure {
        Nvml nvml = initialisation.nvml();
        return context.executors()
                .call(
                        NvmlExecutors.DRIVER,
                        "nvmlSystemGetDriverVersion",
                        () -> new NvmlSession(
                                initialisation,
                                context,
                                nvml.driverVersion(),
                                nvml.cudaVersion().orElse("")));
    }

    /** Scans by index: a GPU that fails is lost, and only a failure of the driver fails the scan. */
    DeviceScan.ScanSucceeded scan() throws NvmlFailure {
        int count = executors.call(NvmlExecutors.DRIVER, "nvmlDeviceGetCount", nvml::count);
        List<ScannedGpu> found = new ArrayList<>();
        Map<Integer, NvmlFailure> failures = new LinkedHashMap<>();
        List<PendingCall<ScannedGpu>> reads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int index = i;
            reads.add(executors.startInTurn(index, "nvmlDeviceGetHandleByIndex", () -> read(index)));
        }
        for (int index = 0; index < count; index++) {
            try {
                found.add(await(index, reads.get(index)));
            } catch (NvmlFailure e) {
                if (e.concernsDriver()) {
                    throw e;
                }
                failures.put(index, e);
            }
        }
        List<Gpu> answering = found.stream().map(ScannedGpu::gpu).toList();
        List<DeviceScan.LostGpu> lost =
                known.lost(answering, failures, gpus.pci().boundGpuAddresses(), reportedFaults);
        answering.forEach(baseline::observe);
        subscribe(found);
        return new DeviceScan.ScanSucceeded(
                driverVersion, cudaVersion, answering, lost, gpus.pci().gpuAddresses());
    }

    /** A GPU that is known and still busy stays as it was: whether it hangs is not yet known, and the others do not wait. */
    private ScannedGpu await(int index, PendingCall<ScannedGpu> read) throws NvmlFailure {
        Optional<ScannedGpu> before =
                tracked.stream().filter(gpu -> gpu.gpu().index() == index).findFirst();
        try {
            ScannedGpu now = before.isPresent() ? read.await(SessionContext.STRAGGLER_WAIT) : read.await();
            reportedFaults.onAnswer(now.gpu().uuid());
            return now;
        } catch (NvmlFailure e) {
            if (e.code() == NvmlReturnCode.BUSY && before.isPresent()) {
                return before.get();
            }
            throw e;
        }
    }

    private ScannedGpu read(int index) throws NvmlFailure {
        Nvml.Handle device = nvml.handle(index);
        String uuid = nvml.uuid(device);
        Optional<ScannedGpu> before = tracked.stream()
                .filter(gpu -> gpu.gpu().uuid().equals(uuid) && gpu.gpu().index() == index)
                .findFirst();
        ScannedGpu now = before.isPresent()
                ? withMigInstances(
                        gpus.refresh(before.get().gpu(), device),
                        device,
                        before.get().migInstances())
                : withMigInstances(gpus.read(index, device), device, List.of());
        samples.checkResponds(device);
        return now;
    }

    private ScannedGpu withMigInstances(Gpu gpu, Nvml.Handle device, List<MigReader.ScannedMigInstance> before)
            throws NvmlFailure {
        List<MigReader.ScannedMigInstance> migInstances =
                gpu.mig().enabled().orElse(false) ? migs.read(gpu, device, before) : List.of();
        List<MigInstance> instances = migInstances.stream()
                .map(MigReader.ScannedMigInstance::instance)
                .toList();
        return new ScannedGpu(
                instances.equals(gpu.instances()) ? gpu : gpu.withMig(gpu.mig().enabled(), instances),
                device,
                migInstances);
    }

    private void subscribe(List<ScannedGpu> found) throws NvmlFailure {
        tracked = List.copyOf(found);
        releaseAllBut(tracked);
        subscription.update(found);
    }

    /** Frees nothing while a call hangs, since the call may still write to that memory. */
    private void releaseAllBut(List<ScannedGpu> gpus) throws NvmlFailure {
        if (executors.idle()) {
            executors.call(NvmlExecutors.DRIVER, "nvmlGpmSampleFree", () -> {
                slowReadings.retainOnly(gpus);
                return "";
            });
        }
    }

    /** Samples all GPUs of the last scan. */
    List<GpuSample> samples() {
        Map<ScannedGpu, PendingCall<GpuSample>> reads = new LinkedHashMap<>();
        tracked.forEach(gpu -> reads.put(
                gpu, executors.startInTurn(gpu.gpu().index(), "nvmlDeviceGetUtilizationRates", () -> read(gpu))));
        checkSystemEvents();
        List<GpuSample> read = new ArrayList<>();
        reads.forEach((gpu, sample) -> read.add(await(gpu, sample)));
        return read;
    }

    private GpuSample read(ScannedGpu gpu) throws NvmlFailure {
        if (slowReadings.due(gpu)) {
            slowReadings.read(gpu);
        }
        return samples.read(gpu, slowReadings.latest(gpu));
    }

    private GpuSample await(ScannedGpu gpu, PendingCall<GpuSample> read) {
        String uuid = gpu.gpu().uuid();
        try {
            return read.await(SessionContext.STRAGGLER_WAIT);
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
            if (executors.call(
                    NvmlExecutors.DRIVER,
                    "nvmlSystemEventSetWait",
                    () -> initialisation.systemEvents().occurred())) {
                driverEvents = true;
                reportedFaults.requestScan("the driver was bound to a GPU or unbound from one");
            }
        } catch (NvmlFailure e) {
            reportedFaults.requestScan(String.valueOf(e.getMessage()));
        }
    }

    private @Nullable ScannedGpu findByHandle(Nvml.Handle device) {
        return tracked.stream()
                .filter(gpu -> gpu.device().equals(device))
                .findFirst()
                .orElse(null);
    }

    /** Whether the driver was bound or unbound since the session began, so that its list of GPUs may be outdated. */
    boolean driverEvents() {
        return driverEvents;
    }

    /** Whether no call is in progress, neither about a GPU nor a wait for events that is overdue. */
    boolean isIdle() {
        return executors.idle() && subscription.waitInFlight().compareTo(OVERDUE_WAIT) < 0;
    }

    /** Stops waiting, frees the memory of this session, and returns the NVML that is to be shut down. */
    InitialisedNvml close() {
        tracked = List.of();
        subscription.stop();
        try {
            if (executors.idle()) {
                executors.call(NvmlExecutors.DRIVER, "nvmlGpmSampleFree", () -> {
                    slowReadings.close();
                    return "";
                });
            }
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML memory not freed completely");
        }
        return initialisation;
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
