package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.app.device.PciDevices;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.DeviceScan.DriverProblem;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.nvml.NvmlLibraries.NvmlLibraryException;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import io.gpufleet.nodedaemon.nvml.reader.ExpectedNvLinkCount;
import io.gpufleet.nodedaemon.nvml.reader.InfoRomValidator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The GPUs of this node as NVML reports them. */
public final class NvmlSource implements DeviceSource {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSource.class);

    private final BlockingQueue<DeviceEvent> events = new LinkedBlockingQueue<>();
    private volatile Consumer<DeviceEvent> listener = events::add;
    private final NvmlLibraries libraries;
    private final SessionContext context;
    private final List<CompletableFuture<InitialisedNvml>> pendingShutdowns = new ArrayList<>();
    private final SessionRenewalPolicy renewal = new SessionRenewalPolicy(System::nanoTime);
    private volatile @Nullable NvmlSession session;
    private boolean abandoned;

    /** Creates a source; the first scan opens NVML. */
    public NvmlSource(NvmlSettings settings, PciDevices pci) {
        this.libraries = new NvmlLibraries(settings);
        this.context = new SessionContext(
                settings,
                new NvmlExecutors(settings.deadline()),
                new NvmlFaultReporter(event -> listener.accept(event)),
                new KnownGpus(),
                new ExpectedNvLinkCount(),
                new InfoRomValidator(System::nanoTime),
                new EventSetExclusions(System::nanoTime),
                pci);
    }

    /** Path of the library that a scan would open, or why there is none. Opens nothing. */
    public static String library(NvmlSettings settings) {
        try {
            return new NvmlLibraries(settings).file().toString();
        } catch (NvmlLibraryException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Override
    public String name() {
        return "nvml";
    }

    @Override
    public synchronized DeviceScan scan() {
        NvmlSession open = session;
        if (open != null) {
            try {
                DeviceScan.ScanSucceeded scan = open.scan();
                if (!isOutdated(open, scan)) {
                    return scan;
                }
                LOG.atInfo().addKeyValue("gpus", scan.gpus().size()).log("reopening NVML: GPUs may have come or gone");
                endSession();
            } catch (NvmlFailure e) {
                // The driver or the library changed; a new one may be behind the same path.
                LOG.atWarn().addKeyValue("failure", e.getMessage()).log("reopening NVML");
                endSession();
            }
        }
        return open();
    }

    /** Whether another session is wanted; none ends while a call is in it, so that a GPU that hangs leaves the others served. */
    private boolean isOutdated(NvmlSession open, DeviceScan.ScanSucceeded scan) {
        Reading<List<String>> bound = context.pci().boundGpuAddresses();
        if (!open.driverEvents() && !renewal.isDue(bound, scan)) {
            return false;
        }
        if (!open.isIdle()) {
            if (renewal.postponed(context.settings().deadline())) {
                context.reportedFaults().requestRestart("GPUs came or went, and no session begins while a call hangs");
            }
            return false;
        }
        renewal.attempt(bound, scan);
        return true;
    }

    private DeviceScan open() {
        try {
            NvmlLibrary library = libraries.open();
            if (isIdle()) {
                libraries.unloadOthers(library);
            }
            return opened(init(library));
        } catch (NvmlLibraryException e) {
            return e.asScan();
        } catch (NvmlFailure e) {
            return e.code() == NvmlConstants.FUNCTION_NOT_FOUND
                    ? libraries.notNvml().asScan()
                    : scanFailed(e);
        }
    }

    private InitialisedNvml init(NvmlLibrary library) throws NvmlFailure {
        CompletableFuture<InitialisedNvml> initialised = new CompletableFuture<>();
        try {
            return context.executors().call(NvmlExecutors.DRIVER, "nvmlInit", () -> {
                try {
                    InitialisedNvml opened = InitialisedNvml.open(library);
                    initialised.complete(opened);
                    return opened;
                } catch (NvmlFailure e) {
                    // Nothing to shut down when this one hung and failed later.
                    initialised.completeExceptionally(e);
                    throw e;
                }
            });
        } catch (NvmlFailure e) {
            if (e.code() == NvmlReturnCode.HUNG) {
                pendingShutdowns.add(initialised);
            }
            throw e;
        }
    }

    private DeviceScan opened(InitialisedNvml nvml) {
        try {
            shutDownPending();
            NvmlSession opened = NvmlSession.open(nvml, context);
            session = opened;
            DeviceScan.ScanSucceeded scan = opened.scan();
            context.reportedFaults().clear(NvmlFaultReporter.NODE, FaultKind.NVML_HUNG, "NVML responds again");
            LOG.atInfo()
                    .addKeyValue("driver", scan.driverVersion())
                    .addKeyValue("gpus", scan.gpus().size())
                    .addKeyValue("lost", scan.lost().size())
                    .log("NVML opened");
            return scan;
        } catch (NvmlFailure e) {
            if (session == null) {
                shutDown(nvml);
            }
            endSession();
            return scanFailed(e);
        }
    }

    /** NVML counts initialisations: each one that hung and returned later needs its own shutdown. */
    private void shutDownPending() {
        List<InitialisedNvml> returned = pendingShutdowns.stream()
                .filter(pending -> pending.isDone() && !pending.isCompletedExceptionally())
                .map(CompletableFuture::join)
                .toList();
        pendingShutdowns.removeIf(CompletableFuture::isDone);
        returned.forEach(this::shutDown);
    }

    private void shutDown(InitialisedNvml nvml) {
        try {
            context.executors().call(NvmlExecutors.DRIVER, "nvmlShutdown", () -> {
                nvml.close();
                return nvml;
            });
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML not shut down");
            if (e.code() == NvmlReturnCode.HUNG) {
                pendingShutdowns.add(CompletableFuture.completedFuture(nvml));
            }
        }
    }

    private DeviceScan.ScanFailed scanFailed(NvmlFailure failure) {
        if (failure.code() == NvmlReturnCode.HUNG) {
            context.reportedFaults()
                    .open(NvmlFaultReporter.NODE, FaultKind.NVML_HUNG, String.valueOf(failure.getMessage()));
        }
        return new DeviceScan.ScanFailed(problem(failure), reason(failure));
    }

    private static DriverProblem problem(NvmlFailure failure) {
        return switch (failure.code()) {
            case NvmlConstants.DRIVER_NOT_LOADED, NvmlConstants.UNINITIALIZED -> DriverProblem.NOT_LOADED;
            case NvmlConstants.LIB_RM_VERSION_MISMATCH -> DriverProblem.VERSION_MISMATCH;
            case NvmlConstants.LIBRARY_NOT_FOUND -> DriverProblem.LIBRARY_ABSENT;
            default -> DriverProblem.FAILED;
        };
    }

    private static String reason(NvmlFailure failure) {
        String remedy = switch (problem(failure)) {
            case NOT_LOADED -> ": no NVIDIA kernel driver is loaded";
            case VERSION_MISMATCH -> ": the library and the loaded kernel driver have different versions";
            case LIBRARY_ABSENT, HELD, FAILED -> "";
        };
        return failure.getMessage() + remedy;
    }

    /** Spares the way of a fault a thread that would only wait for it. */
    @Override
    public boolean deliverTo(Consumer<DeviceEvent> other) {
        listener = other;
        events.forEach(other);
        events.clear();
        return true;
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        List<DeviceEvent> found = new ArrayList<>();
        try {
            DeviceEvent first = events.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
            if (first != null) {
                found.add(first);
                events.drainTo(found);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return found;
    }

    @Override
    public synchronized List<GpuSample> sample() {
        NvmlSession open = session;
        return open == null ? List.of() : open.samples();
    }

    /** Does not wait for a scan in progress, which the same hang may hold. */
    @Override
    public Duration eventWaitInFlight() {
        NvmlSession open = session;
        return open == null ? Duration.ZERO : open.eventWaitInFlight();
    }

    private void endSession() {
        NvmlSession open = session;
        session = null;
        if (open != null) {
            shutDown(open.close());
            abandoned |= open.abandoned();
        }
    }

    /** Closes NVML and unmaps the library, so that its file system can be unmounted, unless a call is still in it. */
    @Override
    public synchronized void release() {
        endSession();
        shutDownPending();
        if (isIdle()) {
            libraries.unload();
        }
    }

    /** Whether no thread is inside a library, once the session ended. */
    private boolean isIdle() {
        return !abandoned && pendingShutdowns.isEmpty() && context.executors().idle();
    }

    @Override
    public void close() {
        release();
        context.executors().close();
    }
}
