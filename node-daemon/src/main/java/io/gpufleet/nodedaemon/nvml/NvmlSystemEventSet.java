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
    /** A driver that is reloaded unbinds and binds each GPU. */
    private static final int FIRST_CAPACITY = 16;

    /** Room beyond which events stay in the set until the next call. */
    private static final int MAX_CAPACITY = 1024;

    private static final int DO_NOT_WAIT = 0;

    private final Nvml nvml;
    private long set;
    private int capacity = FIRST_CAPACITY;
    /** Buffer to which NVML writes events; freed by the garbage collector after the last wait. */
    private MemorySegment events = buffer(FIRST_CAPACITY);

    private NvmlSystemEventSet(Nvml nvml, long set) {
        this.nvml = nvml;
        this.set = set;
    }

    private static MemorySegment buffer(int capacity) {
        return Arena.ofAuto().allocate((long) capacity * NvmlLayout.SYSTEM_EVENT_SIZE, Long.BYTES);
    }

    static NvmlSystemEventSet register(Nvml nvml) {
        if (!nvml.isInitialised()) {
            return new NvmlSystemEventSet(nvml, NO_SET);
        }
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

    /** Whether an event occurred since the last call; takes all that occurred, and does not wait for one. */
    boolean occurred() {
        boolean occurred = false;
        while (set != NO_SET) {
            switch (take()) {
                case NvmlConstants.SUCCESS -> {
                    return true;
                }
                case NvmlConstants.INSUFFICIENT_SIZE -> {
                    occurred = true;
                    if (capacity == MAX_CAPACITY) {
                        return true;
                    }
                    // Whether the events that fit were delivered is not documented; more room serves both.
                    capacity *= 2;
                    events = buffer(capacity);
                }
                default -> {
                    return occurred;
                }
            }
        }
        return occurred;
    }

    private int take() {
        ByteBuffer wait = Nvml.struct(NvmlLayout.SYSTEM_WAIT_SIZE)
                .putInt(NvmlLayout.SYSTEM_WAIT_VERSION, NvmlLayout.version(NvmlLayout.SYSTEM_WAIT_SIZE, 1))
                .putInt(NvmlLayout.SYSTEM_WAIT_TIMEOUT, DO_NOT_WAIT)
                .putLong(NvmlLayout.SYSTEM_WAIT_SET, set)
                .putLong(NvmlLayout.SYSTEM_WAIT_DATA, events.address())
                .putInt(NvmlLayout.SYSTEM_WAIT_ROOM, capacity);
        int code = Nvml.code(() -> nvml.library().nvmlSystemEventSetWait(wait));
        boolean none = code == NvmlConstants.SUCCESS && wait.getInt(NvmlLayout.SYSTEM_WAIT_COUNT) == 0;
        return none ? NvmlConstants.TIMEOUT : code;
    }

    /** Frees the set, once. */
    void free() {
        if (set != NO_SET) {
            ByteBuffer free = Nvml.struct(NvmlLayout.SYSTEM_SET_SIZE)
                    .putInt(NvmlLayout.SYSTEM_SET_VERSION, NvmlLayout.version(NvmlLayout.SYSTEM_SET_SIZE, 1))
                    .putLong(NvmlLayout.SYSTEM_SET_SET, set);
            set = NO_SET;
            int _ = Nvml.code(() -> nvml.library().nvmlSystemEventSetFree(free));
        }
    }
}
