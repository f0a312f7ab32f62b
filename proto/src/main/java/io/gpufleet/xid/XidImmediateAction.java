package io.gpufleet.xid;

/** Immediate action of an XID in NVIDIA's catalogue, under NVIDIA's names. */
public enum XidImmediateAction {
    /** No action. */
    IGNORE,
    /** Restart of the application. */
    RESTART_APP,
    /** Reset of the GPU. */
    RESET_GPU,
    /** Restart of the bare-metal node. */
    RESTART_BM,
    /** Restart of the virtual machine. */
    RESTART_VM,
    /** Check of power connection and seating. */
    CHECK_MECHANICALS,
    /** Contact of NVIDIA's support. */
    CONTACT_SUPPORT,
    /** Update of software or firmware. */
    UPDATE_SWFW,
    /** Check of the messages of unified memory (UVM). */
    CHECK_UVM,
    /** Steps for XID 45: it follows another fault, or the fabric manager must be restarted. */
    WORKFLOW_XID_45,
    /** Steps for XID 48: reset, unless XID 63 or 64 was reported with it. */
    WORKFLOW_XID_48,
    /** Steps for NVLink up to the fourth generation. */
    WORKFLOW_NVLINK_ERR,
    /** Steps for NVLink of the fifth generation. */
    WORKFLOW_NVLINK5_ERR,
    /** XID 154: the driver's recovery action changed and must be read. */
    RECOVERY_ACTION_CHANGED,
    /** The catalogue states no action. */
    UNSTATED
}
