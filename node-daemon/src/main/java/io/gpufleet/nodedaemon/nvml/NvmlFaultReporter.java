package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reports what NVML did. Events of a GPU pass through: the model decides when their cause is gone, by what polls read.
 * Only faults of the library itself, hung calls and failing waits, begin and end here, since no poll reads them; they are
 * remembered over a reopening of NVML.
 */
final class NvmlFaultReporter {
    /** The whole node, in place of a GPU's UUID. */
    static final String NODE = "";

    /** Hung calls at which a restart is requested: NVML probably waits for itself. */
    private static final int MAX_HUNG_CALLS = 3;

    private final Consumer<DeviceEvent> events;
    private final Set<FaultKey> open = new HashSet<>();

    NvmlFaultReporter(Consumer<DeviceEvent> events) {
        this.events = events;
    }

    /** Reports an event of a GPU, or of one MIG instance where {@code migUuid} names it. */
    void reportEvent(String gpuUuid, String migUuid, FaultCode fault, String message) {
        events.accept(new DeviceEvent.FaultDetected(gpuUuid, migUuid, fault, FaultOrigin.NVML_EVENT, message));
    }

    /** Reports a fault of the library when it begins. */
    synchronized void open(String gpuUuid, FaultKind kind, String message) {
        var fault = new FaultCode.WithoutCode(kind);
        if (!open.add(new FaultKey(gpuUuid, fault))) {
            return;
        }
        events.accept(new DeviceEvent.FaultDetected(gpuUuid, "", fault, FaultOrigin.POLL, message));
        if (kind == FaultKind.NVML_HUNG && hungCount() == MAX_HUNG_CALLS) {
            requestRestart(MAX_HUNG_CALLS + " NVML calls hang, last one: " + message);
        }
    }

    private long hungCount() {
        var hung = new FaultCode.WithoutCode(FaultKind.NVML_HUNG);
        return open.stream().filter(key -> key.fault().equals(hung)).count();
    }

    /** Reports the end of a fault that {@link #open} reported. */
    synchronized void clear(String gpuUuid, FaultKind kind, String proof) {
        var fault = new FaultCode.WithoutCode(kind);
        if (open.remove(new FaultKey(gpuUuid, fault))) {
            events.accept(new DeviceEvent.CauseResolved(gpuUuid, fault, proof));
        }
    }

    /** Only a new process can continue. */
    void requestRestart(String reason) {
        events.accept(new DeviceEvent.RestartRequested(reason));
    }

    void requestScan(String reason) {
        events.accept(new DeviceEvent.RescanRequested(reason));
    }

    void requestPoll(String reason) {
        events.accept(new DeviceEvent.PollRequested(reason));
    }

    /** Calls about the GPU return. */
    void onAnswer(String gpuUuid) {
        clear(gpuUuid, FaultKind.NVML_HUNG, "calls return");
    }

    /** A call about the GPU failed; whether that is a fault of the GPU is for the model. */
    void onFailure(String gpuUuid, NvmlFailure why) {
        if (why.code() == NvmlReturnCode.HUNG) {
            open(gpuUuid, FaultKind.NVML_HUNG, String.valueOf(why.getMessage()));
        }
    }
}
