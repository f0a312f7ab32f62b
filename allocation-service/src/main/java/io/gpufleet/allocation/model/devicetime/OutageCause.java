package io.gpufleet.allocation.model.devicetime;

/** Why a GPU is not simply idle while nobody holds it. Each cause is reported by one topic, whose order is total. */
public enum OutageCause {
    /** Processes use it without an allocation. */
    UNALLOCATED_USE(DeviceCondition.UNACCOUNTED),
    /** Its daemon does not offer it, or not as healthy. */
    WITHDRAWN(DeviceCondition.QUARANTINED),
    /** A verdict does not trust it. */
    UNTRUSTED(DeviceCondition.QUARANTINED),
    /** Its daemon is silent. */
    SILENT(DeviceCondition.UNREACHABLE);

    private final DeviceCondition condition;

    OutageCause(DeviceCondition condition) {
        this.condition = condition;
    }

    /** Condition of the GPU meanwhile. */
    public DeviceCondition condition() {
        return condition;
    }
}
