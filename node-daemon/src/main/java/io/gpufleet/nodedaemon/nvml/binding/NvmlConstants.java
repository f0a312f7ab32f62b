package io.gpufleet.nodedaemon.nvml.binding;

/** Values of nvml.h. */
public final class NvmlConstants {
    private NvmlConstants() {}

    public static final int SUCCESS = 0;
    public static final int UNINITIALIZED = 1;
    public static final int INVALID_ARGUMENT = 2;
    public static final int NOT_SUPPORTED = 3;
    public static final int DRIVER_NOT_LOADED = 9;
    public static final int TIMEOUT = 10;
    public static final int LIBRARY_NOT_FOUND = 12;
    public static final int FUNCTION_NOT_FOUND = 13;
    public static final int GPU_IS_LOST = 15;
    public static final int LIB_RM_VERSION_MISMATCH = 18;

    public static final long EVENT_DOUBLE_BIT_ECC = 0x2;
    public static final long EVENT_XID = 0x8;
    public static final long EVENT_MIG_CONFIG_CHANGE = 0x100;
    public static final long EVENT_GPU_UNAVAILABLE = 0x4000;
    public static final long EVENT_RECOVERY_ACTION = 0x8000;

    public static final int FIELD_REMAP_PENDING = 144;
    public static final int FIELD_RECOVERY_ACTION = 230;

    public static final int CLOCK_SM = 1;
    public static final int CLOCK_MEMORY = 2;
    public static final int TEMPERATURE_GPU = 0;
    public static final int NVLINK_REMOTE_SWITCH = 2;
    public static final int NVLINK_MAX_LINKS = 36;
    public static final int FABRIC_STATE_COMPLETED = 3;

    /** Longest of all string buffers, name and UUID of version 2. */
    public static final int STRING_LENGTH = 96;
}
