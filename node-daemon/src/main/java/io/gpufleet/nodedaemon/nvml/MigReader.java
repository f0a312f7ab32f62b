package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the MIG instances of a GPU, slot by slot. */
final class MigReader {
    private static final Logger LOG = LoggerFactory.getLogger(MigReader.class);
    private static final int MIB_SHIFT = 20;

    private final Nvml nvml;
    private final CapabilityFiles capabilities;
    private final Set<String> complaints = ConcurrentHashMap.newKeySet();

    MigReader(Nvml nvml, CapabilityFiles capabilities) {
        this.nvml = nvml;
        this.capabilities = capabilities;
    }

    /** An instance, and how NVML addresses it; the handle dies with the instance. */
    record Slice(MigInstance instance, Nvml.Handle device) {}

    /**
     * The instances of a GPU in MIG mode. One that can not be read stays as it was before; it is gone only where NVML says so.
     *
     * @throws NvmlFailure where the GPU or the driver fails
     */
    List<Slice> read(Gpu gpu, Nvml.Handle device, List<Slice> before) throws NvmlFailure {
        int[] most = new int[1];
        int code = Nvml.code(() -> nvml.library().nvmlDeviceGetMaxMigDeviceCount(device.address(), most));
        if (code != NvmlConstants.SUCCESS) {
            unread(gpu, new NvmlFailure("nvmlDeviceGetMaxMigDeviceCount", code));
            return before;
        }
        List<Slice> slices = new ArrayList<>();
        for (int index = 0; index < most[0]; index++) {
            slot(gpu, device, index, before).ifPresent(slices::add);
        }
        return slices;
    }

    private Optional<Slice> slot(Gpu gpu, Nvml.Handle device, int index, List<Slice> before) throws NvmlFailure {
        try {
            long[] handle = new long[1];
            Nvml.check(
                    "nvmlDeviceGetMigDeviceHandleByIndex",
                    Nvml.code(
                            () -> nvml.library().nvmlDeviceGetMigDeviceHandleByIndex(device.address(), index, handle)));
            Nvml.Handle slice = new Nvml.Handle(handle[0]);
            return Optional.of(new Slice(instance(gpu, device, index, slice), slice));
        } catch (NvmlFailure e) {
            if (e.code() == NvmlConstants.NOT_FOUND || e.code() == NvmlConstants.INVALID_ARGUMENT) {
                // An empty slot, or an instance that was destroyed while it was read.
                return Optional.empty();
            }
            unread(gpu, e);
            return before.stream()
                    .filter(slice -> slice.instance().index() == index)
                    .findFirst();
        }
    }

    private MigInstance instance(Gpu gpu, Nvml.Handle device, int index, Nvml.Handle slice) throws NvmlFailure {
        String uuid = nvml.uuid(slice);
        String name = nvml.name(slice);
        int gpuInstance = number(
                "nvmlDeviceGetGpuInstanceId", out -> nvml.library().nvmlDeviceGetGpuInstanceId(slice.address(), out));
        int computeInstance = number(
                "nvmlDeviceGetComputeInstanceId",
                out -> nvml.library().nvmlDeviceGetComputeInstanceId(slice.address(), out));
        MigInstance.Attributes share = attributes(slice);
        return new MigInstance(
                uuid,
                MigProfiles.profile(name, share, gpu.memoryBytes()),
                index,
                gpuInstance,
                computeInstance,
                share,
                capabilities.nodes(gpu.minor(), gpuInstance, computeInstance),
                placement(device, gpuInstance));
    }

    /** Unavailable to a container that is not privileged. */
    private Reading<MigInstance.Placement> placement(Nvml.Handle device, int gpuInstance) {
        long[] handle = new long[1];
        int found = Nvml.code(() -> nvml.library().nvmlDeviceGetGpuInstanceById(device.address(), gpuInstance, handle));
        if (found != NvmlConstants.SUCCESS) {
            return new Reading.Unavailable<>(ReturnCode.name(found));
        }
        ByteBuffer info = Nvml.struct(NvmlLayout.GPU_INSTANCE_SIZE);
        return Nvml.reading(
                Nvml.code(() -> nvml.library().nvmlGpuInstanceGetInfo(handle[0], info)),
                () -> new MigInstance.Placement(
                        info.getInt(NvmlLayout.GPU_INSTANCE_PROFILE),
                        info.getInt(NvmlLayout.GPU_INSTANCE_START),
                        info.getInt(NvmlLayout.GPU_INSTANCE_SLICES)));
    }

    private static int number(String call, Nvml.UnsignedInt function) throws NvmlFailure {
        int[] number = new int[1];
        Nvml.check(call, Nvml.code(() -> function.into(number)));
        return number[0];
    }

    private MigInstance.Attributes attributes(Nvml.Handle slice) throws NvmlFailure {
        ByteBuffer share = Nvml.struct(NvmlLayout.ATTRIBUTES_SIZE);
        Nvml.check(
                "nvmlDeviceGetAttributes",
                Nvml.code(
                        () -> nvml.library().nvmlDeviceGetAttributes_v2(slice.address(), share),
                        () -> nvml.library().nvmlDeviceGetAttributes(slice.address(), share)));
        return new MigInstance.Attributes(
                share.getLong(NvmlLayout.ATTRIBUTES_MEMORY_MB) << MIB_SHIFT,
                share.getInt(NvmlLayout.ATTRIBUTES_MULTIPROCESSORS),
                share.getInt(NvmlLayout.ATTRIBUTES_GPU_SLICES),
                share.getInt(NvmlLayout.ATTRIBUTES_COMPUTE_SLICES),
                share.getInt(NvmlLayout.ATTRIBUTES_COPY_ENGINES),
                share.getInt(NvmlLayout.ATTRIBUTES_DECODERS),
                share.getInt(NvmlLayout.ATTRIBUTES_ENCODERS),
                share.getInt(NvmlLayout.ATTRIBUTES_JPEGS),
                share.getInt(NvmlLayout.ATTRIBUTES_OFAS));
    }

    private void unread(Gpu gpu, NvmlFailure why) throws NvmlFailure {
        if (why.concernsDriver() || why.code() == NvmlConstants.GPU_IS_LOST) {
            throw why;
        }
        if (complaints.add(gpu.uuid() + why.getMessage())) {
            LOG.atWarn()
                    .addKeyValue("device", gpu.uuid())
                    .addKeyValue("failure", why.getMessage())
                    .log("MIG instances can not be read; NO_PERMISSION asks for a privileged container");
        }
    }
}
