package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.catalogue.Xid;
import io.gpufleet.catalogue.XidCatalogue;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;

/** What NVML's events mean. */
record EventSigns(NvmlSession session, Standing standing) implements EventWaiter.Listener {
    /** A failing wait is a fact of its own from here on; before, a look usually mends it. */
    private static final int FAILING = 3;

    @Override
    public void event(EventSet.Event event) {
        NvmlSession.Tracked gpu = session.behind(event.device());
        if (gpu == null) {
            standing.lookAgain("an event of a device that is not known");
            return;
        }
        String uuid = gpu.gpu().uuid();
        String mig = gpu.migUuid(event.gpuInstance(), event.computeInstance());
        if (has(event, NvmlConstants.EVENT_XID)) {
            int code = (int) event.data();
            standing.happens(uuid, mig, new FaultCode.Xid(code), message(code) + instance(event));
        }
        if (has(event, NvmlConstants.EVENT_DOUBLE_BIT_ECC)) {
            standing.happens(
                    uuid,
                    mig,
                    new FaultCode.Plain(FaultCode.Kind.ECC_UNCORRECTABLE),
                    "uncorrectable ECC error" + instance(event));
        }
        if (has(event, NvmlConstants.EVENT_MIG_CONFIG_CHANGE)) {
            standing.lookAgain("MIG configuration of " + uuid + " changed");
        }
        // Whatever happened, the driver's own word follows it: does the GPU answer, what does it ask for?
        session.check(gpu, false);
    }

    @Override
    public void waitFailed(NvmlFailure failure, int times) {
        if (times == 1) {
            session.poll();
            standing.lookAgain(String.valueOf(failure.getMessage()));
        }
        if (times >= FAILING) {
            standing.begins(
                    Standing.NODE,
                    new FaultCode.Plain(FaultCode.Kind.EVENT_WAIT),
                    "waiting for NVML events fails: " + failure.getMessage());
        }
    }

    @Override
    public void waitWorks() {
        standing.ends(
                Standing.NODE,
                fault -> Standing.plain(fault, FaultCode.Kind.EVENT_WAIT),
                "waiting for NVML events works again");
    }

    @Override
    public void poll() {
        session.poll();
    }

    private static boolean has(EventSet.Event event, long type) {
        return (event.type() & type) != 0;
    }

    private static String message(int code) {
        return "XID " + code
                + XidCatalogue.standard()
                        .find(code)
                        .map(Xid::description)
                        .map(text -> ": " + text)
                        .orElse("");
    }

    private static String instance(EventSet.Event event) {
        return event.gpuInstance() == -1
                ? ""
                : ", GPU instance " + event.gpuInstance() + ", compute instance " + event.computeInstance();
    }
}
