package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The NVML system events: the driver was bound to a GPU or unbound from one. Empty where the library is too old. */
final class NvmlSystemEventSet {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlSystemEventSet.class);
    private static final long NO_SET = 0;
    private static final int EVENT_CAPACITY = 8;
    /** The header does not say that zero means "at once". */
    private static final int MIN_WAIT_MILLIS = 1;

    private final Nvml nvml;
    private final long set;
    /** Buffer to which NVML writes events; freed by the garbage collector after the last wait. */
    private final MemorySegment events =
            Arena.ofAuto().allocate((long) EVENT_CAPACITY * NvmlLayout.SYSTEM_EVENT_SIZE, Long.BYTES);

    private NvmlSystemEventSet(Nvml nvml, long set) {
        this.nvml = nvml;
        this.set = set;
    }

    static NvmlSystemEventSet register(Nvml nvml) {
        ByteBuffer create = Nvml.struct(NvmlLayout.SYSTEM_SET_SIZE)
                .putInt(NvmlLayout.SYSTEM_SET_VERSION, NvmlLayout.version(NvmlLayout.SYSTEM_SET_SIZE, 1));
        int created = Nvml.code(() -> nvml.library().nvmlSystemEventSetCreate(create));
        if (created != NvmlConstants.SUCCESS) {
            LOG.atDebug().addKeyValue("code", NvmlReturnCode.name(created)).log("NVML system events not supported");
            return new NvmlSystemEventSet(nvml, NO_SET);
        }
        long set = create.getLong(NvmlLayout.SYSTEM_SET_SET);
        ByteBuffer register = Nvml.struct(NvmlLayout.SYSTEM_REGISTER_SIZE)
                .putInt(NvmlLayout.SYSTEM_REGISTER_VERSION, NvmlLayout.version(NvmlLayout.SYSTEM_REGISTER_SIZE, 1))
                .putLong(
                        NvmlLayout.SYSTEM_REGISTER_TYPES,
                        NvmlConstants.SYSTEM_EVENT_DRIVER_UNBIND | NvmlConstants.SYSTEM_EVENT_DRIVER_BIND)
                .putLong(NvmlLayout.SYSTEM_REGISTER_SET, set);
        int registered = Nvml.code(() -> nvml.library().nvmlSystemRegisterEvents(register));
        if (registered != NvmlConstants.SUCCESS) {
            LOG.atDebug().addKeyValue("code", NvmlReturnCode.name(registered)).log("NVML system events not supported");
        }
        return new NvmlSystemEventSet(nvml, set);
    }

    /** Whether an event occurred since the last call. */
    boolean occurred() {
        if (set == NO_SET) {
            return false;
        }
        ByteBuffer wait = Nvml.struct(NvmlLayout.SYSTEM_WAIT_SIZE)
                .putInt(NvmlLayout.SYSTEM_WAIT_VERSION, NvmlLayout.version(NvmlLayout.SYSTEM_WAIT_SIZE, 1))
                .putInt(NvmlLayout.SYSTEM_WAIT_TIMEOUT, MIN_WAIT_MILLIS)
                .putLong(NvmlLayout.SYSTEM_WAIT_SET, set)
                .putLong(NvmlLayout.SYSTEM_WAIT_DATA, events.address())
                .putInt(NvmlLayout.SYSTEM_WAIT_ROOM, EVENT_CAPACITY);
        int code = Nvml.code(() -> nvml.library().nvmlSystemEventSetWait(wait));
        return code == NvmlConstants.SUCCESS && wait.getInt(NvmlLayout.SYSTEM_WAIT_COUNT) > 0;
    }

    void free() {
        if (set != NO_SET) {
            ByteBuffer free = Nvml.struct(NvmlLayout.SYSTEM_SET_SIZE)
                    .putInt(NvmlLayout.SYSTEM_SET_VERSION, NvmlLayout.version(NvmlLayout.SYSTEM_SET_SIZE, 1))
                    .putLong(NvmlLayout.SYSTEM_SET_SET, set);
            int _ = Nvml.code(() -> nvml.library().nvmlSystemEventSetFree(free));
        }
    }
}
