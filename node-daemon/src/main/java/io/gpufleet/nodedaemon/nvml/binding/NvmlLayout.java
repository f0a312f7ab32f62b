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
    public static final int MEMORY_USED = 16;

    /** nvmlMemory_v2_t. */
    public static final int MEMORY_V2_SIZE = 40;

    public static final int MEMORY_V2_VERSION = 0;
    public static final int MEMORY_V2_TOTAL = 8;
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
    public static final int FIELD_RETURN = 28;
    public static final int FIELD_VALUE = 32;

    /** nvmlGpuFabricInfo_v2_t. */
    public static final int FABRIC_SIZE = 36;

    public static final int FABRIC_VERSION = 0;
    public static final int FABRIC_CLUSTER = 4;
    public static final int FABRIC_STATUS = 20;
    public static final int FABRIC_CLIQUE = 24;
    public static final int FABRIC_STATE = 28;

    /** NVML_STRUCT_VERSION: what a versioned struct carries in its first field. */
    public static int version(int size, int version) {
        return size | version << 24;
    }
}
