package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.reader.ScannedGpu;
import io.gpufleet.xid.Xid;
import io.gpufleet.xid.XidCatalogue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Maps NVML events to device events:
 *
 * <pre>
 * XID, double-bit ECC error          FaultDetected
 * recovery action, GPU unavailable   PollRequested: the model judges the new readings
 * MIG configuration                  RescanRequested
 * event of an unknown handle         RescanRequested
 * </pre>
 *
 * <p>Calls nothing of NVML: a call that hangs would take the events of all GPUs along.
 *
 * @param infoRomRequests gets the UUIDs of GPUs whose InfoROM is to be validated with the next sample
 */
record NvmlEventMapper(GpuLookup gpus, NvmlFaultReporter reportedFaults, Consumer<String> infoRomRequests)
        implements NvmlEventWaiter.Listener {
    /** Failed waits in a row that are a fault; fewer are usually repaired by a scan. */
    private static final int WAIT_FAILURE_THRESHOLD = 20;

    private static final int WARM_UP_ROUNDS = 20;

    /** The XID of a corrupted or worn InfoROM. */
    private static final int INFO_ROM_XID = 93;

    private static final long READINGS_CHANGED =
            NvmlConstants.EVENT_RECOVERY_ACTION | NvmlConstants.EVENT_GPU_UNAVAILABLE;

    /**
     * Maps events of a GPU that nobody receives, so that the first real one does not wait until that code is loaded and
     * linked: it took 1.7 ms, and 1 ms while the GPU was not looked up by its handle.
     */
    void warmUp(ScannedGpu gpu) {
        var unheard = new NvmlEventMapper(gpus, new NvmlFaultReporter(_ -> {}), _ -> {});
        for (int round = 0; round < WARM_UP_ROUNDS; round++) {
            unheard.event(NvmlEventSet.event(Nvml.struct(NvmlLayout.EVENT_SIZE)
                    .putLong(NvmlLayout.EVENT_DEVICE, gpu.device().address())
                    .putLong(NvmlLayout.EVENT_TYPE, NvmlConstants.EVENT_XID)
                    .putLong(NvmlLayout.EVENT_DATA, INFO_ROM_XID)
                    .putInt(NvmlLayout.EVENT_GPU_INSTANCE, -1)
                    .putInt(NvmlLayout.EVENT_COMPUTE_INSTANCE, -1)));
        }
    }

    /** Finds GPUs by the handles that events carry. */
    interface GpuLookup {
        /** The GPU behind a handle; null where no scan found it. */
        @Nullable
        ScannedGpu findByHandle(Nvml.Handle device);
    }

    @Override
    public void event(NvmlEventSet.NvmlEvent event) {
        ScannedGpu gpu = gpus.findByHandle(event.device());
        if (gpu == null) {
            reportedFaults.requestScan("event of an unknown device");
            return;
        }
        String uuid = gpu.gpu().uuid();
        String mig = gpu.migUuid(event.gpuInstance(), event.computeInstance());
        if (has(event, NvmlConstants.EVENT_XID)) {
            int code = (int) event.data();
            if (code == INFO_ROM_XID) {
                infoRomRequests.accept(uuid);
            }
            reportedFaults.reportEvent(uuid, mig, new FaultCode.Xid(code), message(code) + instance(event));
        }
        if (has(event, NvmlConstants.EVENT_DOUBLE_BIT_ECC)) {
            reportedFaults.reportEvent(
                    uuid,
                    mig,
                    new FaultCode.WithoutCode(FaultKind.ECC_UNCORRECTABLE),
                    "uncorrectable ECC error" + instance(event));
        }
        if (has(event, NvmlConstants.EVENT_MIG_CONFIG_CHANGE)) {
            reportedFaults.requestScan("MIG configuration of " + uuid + " changed");
        }
        if (has(event, READINGS_CHANGED)) {
            reportedFaults.requestPoll("readings of " + uuid + " changed");
        }
    }

    @Override
    public void waitFailed(NvmlFailure failure, int times) {
        // The scan finds the GPU that makes waits fail, and leaves it out of the next event set.
        if (times == 1 || times == WAIT_FAILURE_THRESHOLD) {
            reportedFaults.requestScan(String.valueOf(failure.getMessage()));
            reportedFaults.requestPoll(String.valueOf(failure.getMessage()));
        }
        if (times >= WAIT_FAILURE_THRESHOLD) {
            reportedFaults.open(
                    NvmlFaultReporter.NODE,
                    FaultKind.EVENT_WAIT,
                    "wait for NVML events failed: " + failure.getMessage());
        }
    }

    @Override
    public void waitRecovered() {
        reportedFaults.clear(NvmlFaultReporter.NODE, FaultKind.EVENT_WAIT, "wait for NVML events recovered");
    }

    private static boolean has(NvmlEventSet.NvmlEvent event, long types) {
        return (event.type() & types) != 0;
    }

    private static String message(int code) {
        return "XID " + code
                + XidCatalogue.standard()
                        .find(code)
                        .map(Xid::description)
                        .map(text -> ": " + text)
                        .orElse("");
    }

    private static String instance(NvmlEventSet.NvmlEvent event) {
        return event.gpuInstance() == -1
                ? ""
                : ", GPU instance " + event.gpuInstance() + ", compute instance " + event.computeInstance();
    }
}
