package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Look.DriverTrouble;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.nvml.Libraries.NoLibrary;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The GPUs of this node as NVIDIA's driver tells of them. */
public final class NvmlSource implements DeviceSource {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSource.class);

    private final BlockingQueue<Sign> signs = new LinkedBlockingQueue<>();
    private final Libraries libraries;
    private final Parts parts;
    private final List<CompletableFuture<Nvml>> owed = new ArrayList<>();
    private @Nullable NvmlSession session;
    private boolean abandoned;

    /** What outlives a session. */
    record Parts(
            NvmlSettings settings,
            NvmlThread thread,
            Standing standing,
            Map<Integer, Gpu> lastSeen,
            LinkBaseline baseline) {}

    /** Opens nothing yet; the first look does. */
    public NvmlSource(NvmlSettings settings) {
        this.libraries = new Libraries(settings);
        this.parts = new Parts(
                settings,
                new NvmlThread(settings.deadline()),
                new Standing(signs::add, System::nanoTime, settings.pollInterval()),
                new ConcurrentHashMap<>(),
                new LinkBaseline());
    }

    /** Path of the library that would be opened, or why there is none; opens nothing. */
    public static String library(NvmlSettings settings) {
        try {
            return new Libraries(settings).file().toString();
        } catch (NoLibrary e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Override
    public String name() {
        return "nvml";
    }

    @Override
    public synchronized Look look() {
        NvmlSession open = session;
        if (open != null) {
            try {
                return open.look();
            } catch (NvmlFailure e) {
                // Driver or library are not what they were; both may be there anew, behind the same path.
                LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML is opened again");
                end();
            }
        }
        return open();
    }

    private Look open() {
        try {
            NvmlLibrary library = libraries.open();
            if (quiet()) {
                libraries.unloadOthers(library);
            }
            return opened(init(library));
        } catch (NoLibrary e) {
            return e.asLook();
        } catch (NvmlFailure e) {
            return e.code() == NvmlConstants.FUNCTION_NOT_FOUND
                    ? libraries.notNvml().asLook()
                    : blind(e);
        }
    }

    private Nvml init(NvmlLibrary library) throws NvmlFailure {
        CompletableFuture<Nvml> initialised = new CompletableFuture<>();
        try {
            return parts.thread().call(NvmlThread.DRIVER, "nvmlInit", () -> {
                Nvml nvml = Nvml.init(library);
                initialised.complete(nvml);
                return nvml;
            });
        } catch (NvmlFailure e) {
            if (e.code() == NvmlFailure.HUNG) {
                owed.add(initialised);
            }
            throw e;
        }
    }

    private Look opened(Nvml nvml) {
        try {
            shutDownWhatIsOwed();
            NvmlSession fresh = NvmlSession.open(nvml, parts);
            session = fresh;
            Look.Seen seen = fresh.look();
            parts.standing()
                    .ends(
                            Standing.NODE,
                            fault -> Standing.plain(fault, FaultCode.Kind.NVML_HUNG),
                            "NVML answers again");
            LOG.atInfo()
                    .addKeyValue("driver", seen.driverVersion())
                    .addKeyValue("gpus", seen.gpus().size())
                    .addKeyValue("lost", seen.lost().size())
                    .log("NVML opened");
            return seen;
        } catch (NvmlFailure e) {
            if (session == null) {
                shutDown(nvml);
            }
            end();
            return blind(e);
        }
    }

    /** NVML counts its initialisations: each one that hung, then came, needs its own shutdown. */
    private void shutDownWhatIsOwed() {
        List<Nvml> came = owed.stream()
                .filter(CompletableFuture::isDone)
                .map(CompletableFuture::join)
                .toList();
        owed.removeIf(CompletableFuture::isDone);
        came.forEach(this::shutDown);
    }

    private void shutDown(Nvml nvml) {
        try {
            parts.thread().call(NvmlThread.DRIVER, "nvmlShutdown", () -> {
                nvml.close();
                return nvml;
            });
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML was not shut down");
            if (e.code() == NvmlFailure.HUNG) {
                owed.add(CompletableFuture.completedFuture(nvml));
            }
        }
    }

    private Look.Blind blind(NvmlFailure failure) {
        if (failure.code() == NvmlFailure.HUNG) {
            parts.standing()
                    .begins(
                            Standing.NODE,
                            new FaultCode.Plain(FaultCode.Kind.NVML_HUNG),
                            String.valueOf(failure.getMessage()));
        }
        return new Look.Blind(trouble(failure), reason(failure));
    }

    private static DriverTrouble trouble(NvmlFailure failure) {
        return switch (failure.code()) {
            case NvmlConstants.DRIVER_NOT_LOADED, NvmlConstants.UNINITIALIZED -> DriverTrouble.NOT_LOADED;
            case NvmlConstants.LIB_RM_VERSION_MISMATCH -> DriverTrouble.VERSION_MISMATCH;
            case NvmlConstants.LIBRARY_NOT_FOUND -> DriverTrouble.LIBRARY_ABSENT;
            default -> DriverTrouble.FAILED;
        };
    }

    private static String reason(NvmlFailure failure) {
        String remedy = switch (trouble(failure)) {
            case NOT_LOADED -> ": no NVIDIA kernel driver is loaded";
            case VERSION_MISMATCH -> ": the library and the loaded kernel driver have different versions";
            case LIBRARY_ABSENT, HELD, FAILED -> "";
        };
        return failure.getMessage() + remedy;
    }

    @Override
    public List<Sign> await(Duration atMost) {
        List<Sign> found = new ArrayList<>();
        try {
            Sign first = signs.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
            if (first != null) {
                found.add(first);
                signs.drainTo(found);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return found;
    }

    @Override
    public synchronized List<Vitals> vitals() {
        NvmlSession open = session;
        return open == null ? List.of() : open.vitals();
    }

    private void end() {
        NvmlSession open = session;
        session = null;
        if (open != null) {
            shutDown(open.close());
            abandoned |= open.abandoned();
        }
    }

    /** Also the mapping of the library goes, so that its file system can be unmounted: unless a call is still in it. */
    @Override
    public synchronized void release() {
        end();
        shutDownWhatIsOwed();
        if (quiet()) {
            libraries.unload();
        }
    }

    /** Whether nobody is in a library any more, once the session ended. */
    private boolean quiet() {
        return !abandoned && owed.isEmpty() && parts.thread().idle();
    }

    @Override
    public void close() {
        release();
        parts.thread().close();
    }
}
