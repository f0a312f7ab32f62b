package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** From one initialisation of NVML to its shutdown: the handles, and who waits for events on them. */
final class NvmlSession {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSession.class);

    private final Nvml nvml;
    private final NvmlThread thread;
    private final NvmlSettings settings;
    private final Standing standing;
    private final GpuReader gpus;
    private final MigReader migs;
    private final VitalsReader vitals;
    private final CostlyReader costly;
    private final SystemEvents system;
    private final EventFollowing following;
    private final String driverVersion;
    private final String cudaVersion;
    private final Map<Integer, Gpu> lastSeen;
    private volatile List<Tracked> tracked = List.of();

    /** A GPU that answered at the last look. */
    record Tracked(Gpu gpu, Nvml.Handle device, List<MigReader.Slice> slices) {
        /** UUID of the MIG instance that an event names; empty where it names none, or more than one. */
        String migUuid(int gpuInstance, int computeInstance) {
            List<String> meant = slices.stream()
                    .map(MigReader.Slice::instance)
                    .filter(instance -> instance.gpuInstance() == gpuInstance)
                    .filter(instance -> computeInstance == -1 || instance.computeInstance() == computeInstance)
                    .map(MigInstance::uuid)
                    .toList();
            return meant.size() == 1 ? meant.getFirst() : "";
        }
    }

    private NvmlSession(Nvml nvml, NvmlSource.Parts parts, String driverVersion, String cudaVersion) {
        this.nvml = nvml;
        this.thread = parts.thread();
        this.settings = parts.settings();
        this.standing = parts.standing();
        this.lastSeen = parts.lastSeen();
        this.gpus = new GpuReader(nvml, new PciFiles(settings.sysfs()));
        this.migs = new MigReader(nvml, new CapabilityFiles(settings.proc()));
        this.vitals = new VitalsReader(nvml, parts.baseline());
        this.costly = new CostlyReader(nvml, settings.costlyAge(), System::nanoTime);
        this.system = SystemEvents.register(nvml);
        this.following = new EventFollowing(thread, settings, new EventSigns(this, standing));
        this.driverVersion = driverVersion;
        this.cudaVersion = cudaVersion;
    }

    static NvmlSession open(Nvml nvml, NvmlSource.Parts parts) throws NvmlFailure {
        return parts.thread()
                .call(
                        NvmlThread.DRIVER,
                        "nvmlSystemGetDriverVersion",
                        () -> new NvmlSession(
                                nvml,
                                parts,
                                nvml.driverVersion(),
                                nvml.cudaVersion().orElse("")));
    }

    /** Enumerates by index, so that a GPU that fails is one that fails; fails as a whole only with the driver. */
    Look.Seen look() throws NvmlFailure {
        int count = thread.call(NvmlThread.DRIVER, "nvmlDeviceGetCount", nvml::count);
        List<Tracked> found = new ArrayList<>();
        List<Look.LostGpu> lost = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            try {
                found.add(find(index));
            } catch (NvmlFailure e) {
                if (e.concernsDriver()) {
                    throw e;
                }
                lost.add(lost(index, e));
            }
        }
        follow(found);
        return new Look.Seen(
                driverVersion,
                cudaVersion,
                found.stream().map(Tracked::gpu).toList(),
                lost,
                gpus.pci().graphics());
    }

    private Tracked find(int index) throws NvmlFailure {
        Tracked now = thread.call(index, "nvmlDeviceGetHandleByIndex", () -> {
            Nvml.Handle device = nvml.handle(index);
            String uuid = nvml.uuid(device);
            for (Tracked before : tracked) {
                if (before.gpu().uuid().equals(uuid) && before.gpu().index() == index) {
                    return partitioned(gpus.refresh(before.gpu(), device), device, before.slices());
                }
            }
            return partitioned(gpus.read(index, device), device, List.of());
        });
        lastSeen.put(index, now.gpu());
        standing.answered(
                now.gpu().uuid(), thread.call(index, "nvmlDeviceGetFieldValues", () -> vitals.condition(now.device())));
        return now;
    }

    private Tracked partitioned(Gpu gpu, Nvml.Handle device, List<MigReader.Slice> before) throws NvmlFailure {
        List<MigReader.Slice> slices = gpu.migEnabled().orElse(false) ? migs.read(gpu, device, before) : List.of();
        List<MigInstance> instances =
                slices.stream().map(MigReader.Slice::instance).toList();
        return new Tracked(
                instances.equals(gpu.instances()) ? gpu : gpu.partitioned(gpu.migEnabled(), instances), device, slices);
    }

    private Look.LostGpu lost(int index, NvmlFailure why) {
        Gpu before = lastSeen.get(index);
        if (before != null) {
            standing.silent(before.uuid(), why);
        }
        return new Look.LostGpu(index, before == null ? "" : before.pciBusId(), why.name());
    }

    private void follow(List<Tracked> found) throws NvmlFailure {
        boolean same = following.follows() && registered(found).equals(registered(tracked));
        tracked = List.copyOf(found);
        forgetAllBut(tracked);
        if (!same) {
            following.follow(thread.call(
                    NvmlThread.DRIVER, "nvmlEventSetCreate", () -> EventSet.register(nvml, handles(found))));
        }
    }

    /** Nothing is freed while a call hangs: it may be the one that writes there. */
    private void forgetAllBut(List<Tracked> gpus) throws NvmlFailure {
        if (thread.idle()) {
            thread.call(NvmlThread.DRIVER, "nvmlGpmSampleFree", () -> {
                costly.keepOnly(gpus);
                return "";
            });
        }
    }

    /** Which GPU is behind which handle: another GPU in the place of one that was removed must be registered anew. */
    private static Map<String, Nvml.Handle> registered(List<Tracked> tracked) {
        return tracked.stream().collect(Collectors.toMap(gpu -> gpu.gpu().uuid(), Tracked::device, (a, _) -> a));
    }

    private static List<Nvml.Handle> handles(List<Tracked> tracked) {
        return tracked.stream().map(Tracked::device).toList();
    }

    /** The vitals of all GPUs of the last look; also proves and disproves faults. */
    List<Vitals> vitals() {
        return tracked.stream().map(this::vitals).collect(Collectors.toList());
    }

    private Vitals vitals(Tracked gpu) {
        String uuid = gpu.gpu().uuid();
        try {
            if (costly.due(gpu)) {
                thread.call(gpu.gpu().index(), "nvmlDeviceValidateInforom", () -> {
                    costly.read(gpu);
                    return "";
                });
            }
            return thread.call(
                    gpu.gpu().index(), "nvmlDeviceGetUtilizationRates", () -> vitals.read(gpu, costly.newest(gpu)));
        } catch (NvmlFailure e) {
            standing.silent(uuid, e);
            return VitalsReader.silent(uuid, e);
        }
    }

    /** Asks every GPU whether it answers and what it asks for. */
    void poll() {
        for (Tracked gpu : tracked) {
            if (tracked.isEmpty()) {
                // Being closed: what is left is not asked any more.
                return;
            }
            check(gpu, true);
        }
        if (system.came()) {
            standing.lookAgain("the driver was bound to a GPU or unbound from one");
        }
    }

    /** Asks one GPU; {@code proves} says whether a good answer also proves that earlier events are over. */
    void check(Tracked gpu, boolean proves) {
        String uuid = gpu.gpu().uuid();
        try {
            VitalsReader.Condition condition =
                    thread.call(gpu.gpu().index(), "nvmlDeviceGetUUID", () -> vitals.condition(gpu.device()));
            standing.answered(uuid, condition);
            if (proves) {
                standing.proves(uuid, condition);
            }
        } catch (NvmlFailure e) {
            standing.silent(uuid, e);
        }
    }

    /** The GPU behind a handle of an event. */
    @Nullable
    Tracked behind(Nvml.Handle device) {
        return tracked.stream()
                .filter(gpu -> gpu.device().equals(device))
                .findFirst()
                .orElse(null);
    }

    /** Ends the wait, gives back what the library holds for it, and hands back what is to be shut down now. */
    Nvml close() {
        tracked = List.of();
        following.end();
        try {
            forgetAllBut(List.of());
            if (!following.abandoned()) {
                thread.call(NvmlThread.DRIVER, "nvmlSystemEventSetFree", () -> {
                    system.free();
                    return "";
                });
            }
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("not all of NVML's memory was freed");
        }
        return nvml;
    }

    /** Whether a wait never returned: somebody is still inside the library. */
    boolean abandoned() {
        return following.abandoned();
    }
}
