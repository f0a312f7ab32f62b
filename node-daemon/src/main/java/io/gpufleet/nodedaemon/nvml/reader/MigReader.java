package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the MIG instances of a GPU, slot by slot. */
public final class MigReader {
    private static final Logger LOG = LoggerFactory.getLogger(MigReader.class);
    private static final int MIB_SHIFT = 20;

    private final Nvml nvml;
    private final MigCapabilityNodes capabilities;
    private final Set<String> loggedErrors = ConcurrentHashMap.newKeySet();

    public MigReader(Nvml nvml, MigCapabilityNodes capabilities) {
        this.nvml = nvml;
        this.capabilities = capabilities;
    }

    /** A MIG instance and its handle, which is valid as long as the instance exists. */
    public record ScannedMigInstance(MigInstance instance, Nvml.Handle device) {}

    /**
     * Reads the instances of a GPU in MIG mode. An instance that cannot be read stays as it was before; it is removed only when
     * NVML reports an empty slot.
     *
     * @throws NvmlFailure where the GPU or the driver fails
     */
    public List<ScannedMigInstance> read(Gpu gpu, Nvml.Handle device, List<ScannedMigInstance> before)
            throws NvmlFailure {
        int[] slots = new int[1];
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetMaxMigDeviceCount(device.address(), slots));
        if (code != NvmlConstants.SUCCESS) {
            logUnreadable(gpu, new NvmlFailure("nvmlDeviceGetMaxMigDeviceCount", code));
            return before;
        }
        List<ScannedMigInstance> found = new ArrayList<>();
        for (int index = 0; index < slots[0]; index++) {
            slot(gpu, device, index, before).ifPresent(found::add);
        }
        return found;
    }

    private Optional<ScannedMigInstance> slot(Gpu gpu, Nvml.Handle device, int index, List<ScannedMigInstance> before)
            throws NvmlFailure {
        try {
            long[] handle = new long[1];
            Nvml.check(
                    "nvmlDeviceGetMigDeviceHandleByIndex",
                    Nvml.code(
                            () -> nvml.library().nvmlDeviceGetMigDeviceHandleByIndex(device.address(), index, handle)));
            Nvml.Handle mig = new Nvml.Handle(handle[0]);
            return Optional.of(new ScannedMigInstance(instance(gpu, device, index, mig), mig));
        } catch (NvmlFailure e) {
            if (e.code() == NvmlConstants.NOT_FOUND || e.code() == NvmlConstants.INVALID_ARGUMENT) {
                // An empty slot, or an instance that was destroyed while it was read.
                return Optional.empty();
            }
            logUnreadable(gpu, e);
            return before.stream()
                    .filter(mig -> mig.instance().index() == index)
                    .findFirst();
        }
    }

    private MigInstance instance(Gpu gpu, Nvml.Handle device, int index, Nvml.Handle mig) throws NvmlFailure {
        String uuid = nvml.uuid(mig);
        String name = nvml.name(mig);
        int gpuInstance = number(
                "nvmlDeviceGetGpuInstanceId", out -> nvml.library().nvmlDeviceGetGpuInstanceId(mig.address(), out));
        int computeInstance = number(
                "nvmlDeviceGetComputeInstanceId",
                out -> nvml.library().nvmlDeviceGetComputeInstanceId(mig.address(), out));
        MigInstance.Attributes share = attributes(mig);
        return new MigInstance(
                uuid,
                MigProfileName.profile(name, share, gpu.memoryBytes()),
                index,
                gpuInstance,
                computeInstance,
                share,
                capabilities.nodes(gpu.identifiers().minor(), gpuInstance, computeInstance),
                placement(device, gpuInstance));
    }

    /** Placement of the instance; unavailable to a container that is not privileged. */
    private Reading<MigInstance.Placement> placement(Nvml.Handle device, int gpuInstance) {
        long[] handle = new long[1];
        int found = Nvml.code(() -> nvml.library().nvmlDeviceGetGpuInstanceById(device.address(), gpuInstance, handle));
        if (found != NvmlConstants.SUCCESS) {
            return new Reading.Unavailable<>(NvmlReturnCode.name(found));
        }
        ByteBuffer info = Nvml.struct(NvmlLayout.GPU_INSTANCE_SIZE);
        return Nvml.reading(
                Nvml.code(() -> nvml.library().nvmlGpuInstanceGetInfo(handle[0], info)),
                () -> new MigInstance.Placement(
                        info.getInt(NvmlLayout.GPU_INSTANCE_PROFILE),
                        info.getInt(NvmlLayout.GPU_INSTANCE_START),
                        info.getInt(NvmlLayout.GPU_INSTANCE_SLICES)));
    }

    private static int number(String call, Nvml.UnsignedIntCall function) throws NvmlFailure {
        int[] number = new int[1];
        Nvml.check(call, Nvml.code(() -> function.call(number)));
        return number[0];
    }

    private MigInstance.Attributes attributes(Nvml.Handle mig) throws NvmlFailure {
        ByteBuffer share = Nvml.struct(NvmlLayout.ATTRIBUTES_SIZE);
        Nvml.check(
                "nvmlDeviceGetAttributes",
                Nvml.code(
                        () -> nvml.library().nvmlDeviceGetAttributes_v2(mig.address(), share),
                        () -> nvml.library().nvmlDeviceGetAttributes(mig.address(), share)));
        return new MigInstance.Attributes(
                share.getLong(NvmlLayout.ATTRIBUTES_MEMORY_MB) << MIB_SHIFT,
                share.getInt(NvmlLayout.ATTRIBUTES_MULTIPROCESSORS),
                new MigInstance.Slices(
                        share.getInt(NvmlLayout.ATTRIBUTES_GPU_SLICES),
                        share.getInt(NvmlLayout.ATTRIBUTES_COMPUTE_SLICES)),
                new MigInstance.Engines(
                        share.getInt(NvmlLayout.ATTRIBUTES_COPY_ENGINES),
                        share.getInt(NvmlLayout.ATTRIBUTES_DECODERS),
                        share.getInt(NvmlLayout.ATTRIBUTES_ENCODERS),
                        share.getInt(NvmlLayout.ATTRIBUTES_JPEGS),
                        share.getInt(NvmlLayout.ATTRIBUTES_OFAS)));
    }

    private void logUnreadable(Gpu gpu, NvmlFailure why) throws NvmlFailure {
        if (why.concernsDriver() || why.code() == NvmlConstants.GPU_IS_LOST) {
            throw why;
        }
        if (loggedErrors.add(gpu.uuid() + why.getMessage())) {
            LOG.atWarn()
                    .addKeyValue("device", gpu.uuid())
                    .addKeyValue("failure", why.getMessage())
                    .log("MIG instances cannot be read; NO_PERMISSION needs a privileged container");
        }
    }
}
