package io.gpufleet.nodedaemon.nvml.binding;

/** Sizes and offsets in bytes of nvml.h's structs on 64-bit Linux, as a C compiler lays them out. */
public final class NvmlLayout {
    private NvmlLayout() {}

    /** nvmlPciInfo_t. */
    public static final int PCI_SIZE = 68;

    public static final int PCI_DOMAIN = 16;
    public static final int PCI_BUS = 20;
    public static final int PCI_DEVICE = 24;
    public static final int PCI_BUS_ID = 36;
    public static final int PCI_BUS_ID_LENGTH = 32;

    /** nvmlMemory_t. */
    public static final int MEMORY_SIZE = 24;

    public static final int MEMORY_TOTAL = 0;
    public static final int MEMORY_FREE = 8;
    public static final int MEMORY_USED = 16;

    /** nvmlMemory_v2_t. */
    public static final int MEMORY_V2_SIZE = 40;

    public static final int MEMORY_V2_VERSION = 0;
    public static final int MEMORY_V2_TOTAL = 8;
    public static final int MEMORY_V2_RESERVED = 16;
    public static final int MEMORY_V2_FREE = 24;
    public static final int MEMORY_V2_USED = 32;

    /** nvmlUtilization_t. */
    public static final int UTILIZATION_SIZE = 8;

    public static final int UTILIZATION_GPU = 0;
    public static final int UTILIZATION_MEMORY = 4;

    /** nvmlEventData_t. */
    public static final int EVENT_SIZE = 32;

    public static final int EVENT_DEVICE = 0;
    public static final int EVENT_TYPE = 8;
    public static final int EVENT_DATA = 16;
    public static final int EVENT_GPU_INSTANCE = 24;
    public static final int EVENT_COMPUTE_INSTANCE = 28;

    /** nvmlFieldValue_t. */
    public static final int FIELD_SIZE = 40;

    public static final int FIELD_ID = 0;
    public static final int FIELD_SCOPE = 4;
    public static final int FIELD_TYPE = 24;
    public static final int FIELD_RETURN = 28;
    public static final int FIELD_VALUE = 32;

    /** nvmlGpuFabricInfo_t: the second version without its version and health mask. */
    public static final int FABRIC_V1_SIZE = 28;

    /** nvmlGpuFabricInfo_v2_t. */
    public static final int FABRIC_SIZE = 36;

    public static final int FABRIC_VERSION = 0;
    public static final int FABRIC_CLUSTER = 4;
    public static final int FABRIC_STATUS = 20;
    public static final int FABRIC_CLIQUE = 24;
    public static final int FABRIC_STATE = 28;
    public static final int FABRIC_HEALTH = 32;

    /** nvmlDeviceAttributes_t. */
    public static final int ATTRIBUTES_SIZE = 40;

    public static final int ATTRIBUTES_MULTIPROCESSORS = 0;
    public static final int ATTRIBUTES_COPY_ENGINES = 4;
    public static final int ATTRIBUTES_DECODERS = 8;
    public static final int ATTRIBUTES_ENCODERS = 12;
    public static final int ATTRIBUTES_JPEGS = 16;
    public static final int ATTRIBUTES_OFAS = 20;
    public static final int ATTRIBUTES_GPU_SLICES = 24;
    public static final int ATTRIBUTES_COMPUTE_SLICES = 28;
    public static final int ATTRIBUTES_MEMORY_MB = 32;

    /** nvmlGpuInstanceInfo_t. */
    public static final int GPU_INSTANCE_SIZE = 24;

    public static final int GPU_INSTANCE_PROFILE = 12;
    public static final int GPU_INSTANCE_START = 16;
    public static final int GPU_INSTANCE_SLICES = 20;

    /** nvmlProcessInfo_t. */
    public static final int PROCESS_SIZE = 24;

    /** Entry with protected memory at its end, as drivers of the 535 line write it. */
    public static final int PROCESS_LONG_SIZE = 32;

    /** nvmlProcessInfo_v1_t: without instances. */
    public static final int PROCESS_SHORT_SIZE = 16;

    public static final int PROCESS_PID = 0;
    public static final int PROCESS_MEMORY = 8;
    public static final int PROCESS_GPU_INSTANCE = 16;
    public static final int PROCESS_COMPUTE_INSTANCE = 20;

    /** nvmlViolationTime_t. */
    public static final int VIOLATION_SIZE = 16;

    public static final int VIOLATION_TIME = 8;

    /** nvmlGpmSupport_t. */
    public static final int GPM_SUPPORT_SIZE = 8;

    public static final int GPM_SUPPORT_VERSION = 0;
    public static final int GPM_SUPPORT_SUPPORTED = 4;

    /** nvmlGpmMetric_t. */
    public static final int GPM_METRIC_SIZE = 40;

    public static final int GPM_METRIC_ID = 0;
    public static final int GPM_METRIC_RETURN = 4;
    public static final int GPM_METRIC_VALUE = 8;

    /** nvmlGpmMetricsGet_t. */
    public static final int GPM_METRICS_SIZE = 13344;

    public static final int GPM_METRICS_VERSION = 0;
    public static final int GPM_METRICS_COUNT = 4;
    public static final int GPM_METRICS_FIRST = 8;
    public static final int GPM_METRICS_SECOND = 16;
    public static final int GPM_METRICS_METRICS = 24;

    /** nvmlSystemEventSetCreateRequest_t and nvmlSystemEventSetFreeRequest_t. */
    public static final int SYSTEM_SET_SIZE = 16;

    public static final int SYSTEM_SET_VERSION = 0;
    public static final int SYSTEM_SET_SET = 8;

    /** nvmlSystemRegisterEventRequest_t. */
    public static final int SYSTEM_REGISTER_SIZE = 24;

    public static final int SYSTEM_REGISTER_VERSION = 0;
    public static final int SYSTEM_REGISTER_TYPES = 8;
    public static final int SYSTEM_REGISTER_SET = 16;

    /** nvmlSystemEventData_v1_t. */
    public static final int SYSTEM_EVENT_SIZE = 16;

    public static final int SYSTEM_EVENT_TYPE = 0;

    /** nvmlSystemEventSetWaitRequest_t. */
    public static final int SYSTEM_WAIT_SIZE = 32;

    public static final int SYSTEM_WAIT_VERSION = 0;
    public static final int SYSTEM_WAIT_TIMEOUT = 4;
    public static final int SYSTEM_WAIT_SET = 8;
    public static final int SYSTEM_WAIT_DATA = 16;
    public static final int SYSTEM_WAIT_ROOM = 24;
    public static final int SYSTEM_WAIT_COUNT = 28;

    /** NVML_STRUCT_VERSION: the first field of a versioned struct. */
    public static int version(int size, int version) {
        return size | version << 24;
    }
}
