package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a fault through a node state of its own, so that the virtual machine has loaded and compiled that code when the
 * first real one is noticed. Nobody sees its lists, facts and log lines.
 */
final class FaultWarmUp {
    private static final Logger LOG = LoggerFactory.getLogger(FaultWarmUp.class);
    /** Code is compiled after 256 calls. */
    private static final int ROUNDS = 270;

    private static final Duration MAX_TIME = Duration.ofSeconds(3);
    /** A GPU that fell off the bus: withdrawn by default. */
    private static final int XID = 79;

    private final HostInfo host;
    private final FaultPolicy policy;
    private final AllocationTableFactory allocator;
    private final FactSink facts;

    FaultWarmUp(HostInfo host, FaultPolicy policy, AllocationTableFactory allocator, FactSink facts) {
        this.host = host;
        this.policy = policy;
        this.allocator = allocator;
        this.facts = facts;
    }

    /** Runs with the GPUs of a scan; returns the facts of one round. */
    List<NodeFact> run(DeviceScan.ScanSucceeded scan, Supplier<Moment> now) {
        List<NodeFact> seen = List.of();
        if (scan.gpus().isEmpty()) {
            return seen;
        }
        try {
            Moment begun = now.get();
            for (int round = 0; round < ROUNDS && now.get().since(begun.nanos()).compareTo(MAX_TIME) < 0; round++) {
                seen = fault(scan, begun);
                facts.warmUp(seen, begun);
            }
        } catch (RuntimeException failed) {
            LOG.atWarn().setCause(failed).log("the way of a fault could not be warmed up, the first one takes longer");
        }
        return seen;
    }

    private List<NodeFact> fault(DeviceScan.ScanSucceeded scan, Moment now) {
        List<NodeFact> seen = new ArrayList<>();
        var counters = new DaemonCounters();
        var outputs = new NodeOutputs(
                (fact, _) -> seen.add(fact),
                new ForgetfulStore(),
                new AllocationHandler(allocator, () -> now, counters, _ -> {}),
                _ -> {},
                counters);
        var state = new NodeState(
                host, policy, new CentralVerdictSettings(Overlay.TRUST, true), outputs, now, DeferredLog.discarding());
        state.handle(new NodeLoopInput.DevicesScanned(scan), now);
        Gpu gpu = scan.gpus().getFirst();
        state.handle(
                new NodeLoopInput.KernelFaultLogged(
                        new KernelLogFault(gpu.pciBusId(), new FaultCode.Xid(XID), "warm-up", false)),
                now);
        state.handle(
                new NodeLoopInput.DeviceEventReceived(new DeviceEvent.FaultDetected(
                        gpu.uuid(), "", new FaultCode.Xid(XID), FaultOrigin.NVML_EVENT, "warm-up")),
                now);
        return seen;
    }

    private static final class ForgetfulStore implements StateStore {
        @Override
        public StoredState load() {
            return StoredState.empty(0);
        }

        @Override
        public void save(StoredState state) {
            // A fault that was none must not outlive the process.
        }
    }
}
