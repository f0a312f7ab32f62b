package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An NVML event set with GPUs registered; events from before the registration are lost. */
final class NvmlEventSet {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlEventSet.class);
    private static final long NO_SET = 0;
    private static final long EVENT_TYPES = NvmlConstants.EVENT_XID
            | NvmlConstants.EVENT_DOUBLE_BIT_ECC
            | NvmlConstants.EVENT_MIG_CONFIG_CHANGE
            | NvmlConstants.EVENT_GPU_UNAVAILABLE
            | NvmlConstants.EVENT_RECOVERY_ACTION;

    private final Nvml nvml;
    private final long set;
    private final AtomicInteger registered = new AtomicInteger();
    private final AtomicInteger registering = new AtomicInteger();

    private NvmlEventSet(Nvml nvml, long set) {
        this.nvml = nvml;
        this.set = set;
    }

    /** An event of a GPU; both instance ids are −1 where the event is not of one MIG instance. */
    record NvmlEvent(Nvml.Handle device, long type, long data, int gpuInstance, int computeInstance) {}

    /** Creates a set; where the library has none, no GPU can be registered, and all are only polled. */
    static NvmlEventSet create(Nvml nvml) throws NvmlFailure {
        long[] set = new long[1];
        int created = Nvml.code(() -> nvml.library().nvmlEventSetCreate(set));
        if (NvmlReturnCode.concernsDriver(created)) {
            throw new NvmlFailure("nvmlEventSetCreate", created);
        }
        if (created != NvmlConstants.SUCCESS) {
            LOG.atWarn()
                    .addKeyValue("code", NvmlReturnCode.name(created))
                    .log("NVML events not supported, GPUs are polled");
            return new NvmlEventSet(nvml, NO_SET);
        }
        return new NvmlEventSet(nvml, set[0]);
    }

    /** Registers a GPU, unless it supports no events; whether it is registered. */
    boolean register(Nvml.Handle device) {
        if (set == NO_SET) {
            return false;
        }
        registering.incrementAndGet();
        try {
            Reading<Long> supported =
                    Nvml.longNumber(out -> nvml.library().nvmlDeviceGetSupportedEventTypes(device.address(), out));
            boolean done = supported instanceof Known<Long>(Long types)
                    && (types & EVENT_TYPES) != 0
                    && Nvml.code(() ->
                                    nvml.library().nvmlDeviceRegisterEvents(device.address(), types & EVENT_TYPES, set))
                            == NvmlConstants.SUCCESS;
            if (done) {
                registered.incrementAndGet();
            }
            return done;
        } finally {
            registering.decrementAndGet();
        }
    }

    /** Whether any GPU is registered; without one a wait would only spin or fail. */
    boolean canReport() {
        return registered.get() > 0;
    }

    /** Waits for one event; empty when the time is over. Blocks the thread in native code. */
    Optional<NvmlEvent> await(Duration atMost) throws NvmlFailure {
        ByteBuffer data = Nvml.struct(NvmlLayout.EVENT_SIZE)
                .putInt(NvmlLayout.EVENT_GPU_INSTANCE, -1)
                .putInt(NvmlLayout.EVENT_COMPUTE_INSTANCE, -1);
        int milliseconds = (int) atMost.toMillis();
        int code = Nvml.code(
                () -> nvml.library().nvmlEventSetWait_v2(set, data, milliseconds),
                () -> nvml.library().nvmlEventSetWait(set, data, milliseconds));
        if (code == NvmlConstants.TIMEOUT) {
            return Optional.empty();
        }
        Nvml.check("nvmlEventSetWait", code);
        return Optional.of(event(data));
    }

    /** The event in a struct of NVML. */
    static NvmlEvent event(ByteBuffer data) {
        return new NvmlEvent(
                new Nvml.Handle(data.getLong(NvmlLayout.EVENT_DEVICE)),
                data.getLong(NvmlLayout.EVENT_TYPE),
                data.getLong(NvmlLayout.EVENT_DATA),
                data.getInt(NvmlLayout.EVENT_GPU_INSTANCE),
                data.getInt(NvmlLayout.EVENT_COMPUTE_INSTANCE));
    }

    /** Frees the set, unless a registration hangs, which may still write to it. */
    void free() throws NvmlFailure {
        if (set != NO_SET && registering.get() == 0) {
            Nvml.check("nvmlEventSetFree", Nvml.code(() -> nvml.library().nvmlEventSetFree(set)));
        }
    }
}
