package io.gpufleet.nodedaemon.nvml.binding;

/** Values of nvml.h. */
public final class NvmlConstants {
    private NvmlConstants() {}

    public static final int SUCCESS = 0;
    public static final int UNINITIALIZED = 1;
    public static final int INVALID_ARGUMENT = 2;
    public static final int NOT_SUPPORTED = 3;
    public static final int NO_PERMISSION = 4;
    public static final int NOT_FOUND = 6;
    public static final int INSUFFICIENT_SIZE = 7;
    public static final int DRIVER_NOT_LOADED = 9;
    public static final int TIMEOUT = 10;
    public static final int LIBRARY_NOT_FOUND = 12;
    public static final int FUNCTION_NOT_FOUND = 13;
    public static final int CORRUPTED_INFOROM = 14;
    public static final int GPU_IS_LOST = 15;
    public static final int LIB_RM_VERSION_MISMATCH = 18;
    public static final int ARGUMENT_VERSION_MISMATCH = 25;

    public static final int INIT_NO_GPUS = 1;

    public static final long EVENT_DOUBLE_BIT_ECC = 0x2;
    public static final long EVENT_XID = 0x8;
    public static final long EVENT_MIG_CONFIG_CHANGE = 0x100;
    public static final long EVENT_GPU_UNAVAILABLE = 0x4000;
    public static final long EVENT_RECOVERY_ACTION = 0x8000;

    public static final long SYSTEM_EVENT_DRIVER_UNBIND = 0x1;
    public static final long SYSTEM_EVENT_DRIVER_BIND = 0x2;

    public static final int FIELD_ECC_SINGLE_VOLATILE = 3;
    public static final int FIELD_ECC_DOUBLE_VOLATILE = 4;
    public static final int FIELD_ECC_SINGLE_AGGREGATE = 5;
    public static final int FIELD_ECC_DOUBLE_AGGREGATE = 6;
    public static final int FIELD_RETIRED_SINGLE = 29;
    public static final int FIELD_RETIRED_DOUBLE = 30;
    public static final int FIELD_RETIRED_PENDING = 31;
    public static final int FIELD_NVLINK_CRC_FLIT_TOTAL = 38;
    public static final int FIELD_NVLINK_CRC_DATA_TOTAL = 45;
    public static final int FIELD_NVLINK_REPLAY_TOTAL = 52;
    public static final int FIELD_NVLINK_RECOVERY_TOTAL = 59;
    public static final int FIELD_MEMORY_TEMPERATURE = 82;
    public static final int FIELD_NVLINK_SENT_KIB = 138;
    public static final int FIELD_NVLINK_RECEIVED_KIB = 139;
    public static final int FIELD_REMAPPED_CORRECTABLE = 142;
    public static final int FIELD_REMAPPED_UNCORRECTABLE = 143;
    public static final int FIELD_REMAP_PENDING = 144;
    public static final int FIELD_REMAP_FAILURE = 145;
    public static final int FIELD_NVLINK_DL_REPLAY = 161;
    public static final int FIELD_NVLINK_DL_RECOVERY = 162;
    public static final int FIELD_NVLINK_DL_CRC = 163;
    public static final int FIELD_NVLINK_STATE = 165;
    public static final int FIELD_NVLINK5_SENT_BYTES = 202;
    public static final int FIELD_NVLINK5_RECEIVED_BYTES = 204;
    public static final int FIELD_NVLINK5_RECEIVE_ERRORS = 208;
    public static final int FIELD_NVLINK5_RECOVERIES = 215;
    public static final int FIELD_RECOVERY_ACTION = 230;

    /** Instance id of a process on a GPU that is not partitioned. */
    public static final int NO_INSTANCE = -1;

    /** Memory of a process that the driver does not know. */
    public static final long MEMORY_NOT_AVAILABLE = -1;

    /** Scope of a field that is the sum over all links. */
    public static final int SCOPE_ALL_LINKS = -1;

    public static final int VALUE_DOUBLE = 0;
    public static final int VALUE_UNSIGNED_INT = 1;
    public static final int VALUE_SIGNED_INT = 5;
    public static final int VALUE_UNSIGNED_SHORT = 6;

    public static final int GPM_SUPPORT_VERSION = 1;
    public static final int GPM_METRICS_VERSION = 1;
    public static final int GPM_ENGINE = 1;
    public static final int GPM_SM = 2;
    public static final int GPM_SM_OCCUPANCY = 3;
    public static final int GPM_TENSOR = 5;
    public static final int GPM_DRAM = 10;
    public static final int GPM_FP64 = 11;
    public static final int GPM_FP32 = 12;
    public static final int GPM_FP16 = 13;
    public static final int GPM_PCIE_SENT = 20;
    public static final int GPM_PCIE_RECEIVED = 21;

    public static final int CLOCK_SM = 1;
    public static final int CLOCK_MEMORY = 2;
    public static final int TEMPERATURE_GPU = 0;
    public static final int NVLINK_REMOTE_SWITCH = 2;
    public static final int NVLINK_MAX_LINKS = 36;
    public static final int FABRIC_STATE_NOT_STARTED = 1;
    public static final int FABRIC_STATE_IN_PROGRESS = 2;
    public static final int FABRIC_STATE_COMPLETED = 3;
    public static final int PCIE_SENT = 0;
    public static final int PCIE_RECEIVED = 1;
    public static final int POLICY_POWER = 0;
    public static final int POLICY_THERMAL = 1;
    public static final int VIRTUALIZATION_GUEST_VGPU = 2;

    /** Size of the longest string buffers, those of name and UUID (version 2). */
    public static final int STRING_LENGTH = 96;
}
