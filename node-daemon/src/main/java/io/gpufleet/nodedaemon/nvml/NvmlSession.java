package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.app.device.PciDevices;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlThread;
import io.gpufleet.nodedaemon.nvml.reader.GpuReader;
import io.gpufleet.nodedaemon.nvml.reader.GpuSampleReader;
import io.gpufleet.nodedaemon.nvml.reader.MigCapabilityNodes;
import io.gpufleet.nodedaemon.nvml.reader.MigReader;
import io.gpufleet.nodedaemon.nvml.reader.NvLinkBaseline;
import io.gpufleet.nodedaemon.nvml.reader.SlowReadingsReader;
import io.gpufleet.nodedaemon.nvml.reader.TrackedGpu;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** NVML from one initialisation to its shutdown: the tracked GPUs, and the wait for their events. */
final class NvmlSession {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSession.class);

    private final Nvml nvml;
    private final NvmlThread thread;
    private final NvmlSettings settings;
    private final ReportedFaults reportedFaults;
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
            NvmlThread thread,
            ReportedFaults reportedFaults,
            Map<Integer, Gpu> lastSeen,
            NvLinkBaseline baseline,
            PciDevices pci) {}

    private NvmlSession(Nvml nvml, SessionContext context, String driverVersion, String cudaVersion) {
        this.nvml = nvml;
        this.thread = context.thread();
        this.settings = context.settings();
        this.reportedFaults = context.reportedFaults();
        this.lastSeen = context.lastSeen();
        this.gpus = new GpuReader(nvml, context.pci());
        this.migs = new MigReader(nvml, new MigCapabilityNodes(settings.proc()));
        this.samples = new GpuSampleReader(nvml, context.baseline());
        this.slowReadings = new SlowReadingsReader(nvml, settings.slowReadingMaxAge(), System::nanoTime);
        this.systemEvents = NvmlSystemEventSet.register(nvml);
        this.subscription = new NvmlEventSubscription(
                thread,
                settings,
                new NvmlEventMapper(this::findByHandle, reportedFaults, slowReadings::requestInfoRom));
        this.driverVersion = driverVersion;
        this.cudaVersion = cudaVersion;
    }

    static NvmlSession open(Nvml nvml, SessionContext context) throws NvmlFailure {
        return context.thread()
                .call(
                        NvmlThread.DRIVER,
                        "nvmlSystemGetDriverVersion",
                        () -> new NvmlSession(
                                nvml,
                                context,
                                nvml.driverVersion(),
                                nvml.cudaVersion().orElse("")));
    }

    /** Scans by index: a GPU that fails is lost, and only a failure of the driver fails the scan. */
    DeviceScan.ScanSucceeded scan() throws NvmlFailure {
        int count = thread.call(NvmlThread.DRIVER, "nvmlDeviceGetCount", nvml::count);
        List<TrackedGpu> found = new ArrayList<>();
        List<DeviceScan.LostGpu> lost = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            try {
                found.add(track(index));
            } catch (NvmlFailure e) {
                if (e.concernsDriver()) {
                    throw e;
                }
                lost.add(lost(index, e));
            }
        }
        subscribe(found);
        return new DeviceScan.ScanSucceeded(
                driverVersion,
                cudaVersion,
                found.stream().map(TrackedGpu::gpu).toList(),
                lost,
                gpus.pci().gpuAddresses());
    }

    private TrackedGpu track(int index) throws NvmlFailure {
        TrackedGpu now = thread.call(index, "nvmlDeviceGetHandleByIndex", () -> {
            Nvml.Handle device = nvml.handle(index);
            String uuid = nvml.uuid(device);
            for (TrackedGpu before : tracked) {
                if (before.gpu().uuid().equals(uuid) && before.gpu().index() == index) {
                    return withMigInstances(gpus.refresh(before.gpu(), device), device, before.migInstances());
                }
            }
            return withMigInstances(gpus.read(index, device), device, List.of());
        });
        lastSeen.put(index, now.gpu());
        thread.call(index, "nvmlDeviceGetMemoryInfo", () -> {
            samples.checkResponds(now.device());
            return "";
        });
        reportedFaults.onAnswer(now.gpu().uuid());
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
            subscription.switchTo(thread.call(
                    NvmlThread.DRIVER, "nvmlEventSetCreate", () -> NvmlEventSet.register(nvml, handles(found))));
        }
    }

    /** Frees nothing while a call hangs, since the call may still write to that memory. */
    private void releaseAllBut(List<TrackedGpu> gpus) throws NvmlFailure {
        if (thread.idle()) {
            thread.call(NvmlThread.DRIVER, "nvmlGpmSampleFree", () -> {
                slowReadings.retainOnly(gpus);
                return "";
            });
        }
    }

    /** The GPU behind each handle; a GPU that replaced another must be registered again. */
    private static Map<String, Nvml.Handle> registered(List<TrackedGpu> tracked) {
        return tracked.stream().collect(Collectors.toMap(gpu -> gpu.gpu().uuid(), TrackedGpu::device, (a, _) -> a));
    }

    private static List<Nvml.Handle> handles(List<TrackedGpu> tracked) {
        return tracked.stream().map(TrackedGpu::device).toList();
    }

    /** Samples all GPUs of the last scan. */
    List<GpuSample> samples() {
        checkSystemEvents();
        return tracked.stream().map(this::sample).collect(Collectors.toList());
    }

    private GpuSample sample(TrackedGpu gpu) {
        String uuid = gpu.gpu().uuid();
        try {
            if (slowReadings.due(gpu)) {
                thread.call(gpu.gpu().index(), "nvmlDeviceValidateInforom", () -> {
                    slowReadings.read(gpu);
                    return "";
                });
            }
            return thread.call(
                    gpu.gpu().index(),
                    "nvmlDeviceGetUtilizationRates",
                    () -> samples.read(gpu, slowReadings.latest(gpu)));
        } catch (NvmlFailure e) {
            reportedFaults.onFailure(uuid, e);
            reportedFaults.requestScan(uuid + " does not respond: " + e.getMessage());
            return GpuSampleReader.unavailable(uuid, e);
        }
    }

    private void checkSystemEvents() {
        try {
            if (thread.call(NvmlThread.DRIVER, "nvmlSystemEventSetWait", systemEvents::occurred)) {
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
                thread.call(NvmlThread.DRIVER, "nvmlSystemEventSetFree", () -> {
                    systemEvents.free();
                    return "";
                });
            }
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML memory not freed completely");
        }
        return nvml;
    }

    /** Whether a wait never returned, so that a thread is still inside the library. */
    boolean abandoned() {
        return subscription.abandoned();
    }
}
