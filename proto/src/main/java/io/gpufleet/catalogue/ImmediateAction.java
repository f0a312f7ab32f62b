package io.gpufleet.catalogue;

/** What NVIDIA's catalogue asks for at once; its own words, so that an operator finds them in its pages. */
public enum ImmediateAction {
    /** Nothing. */
    IGNORE,
    /** Restart of the application. */
    RESTART_APP,
    /** Reset of the GPU. */
    RESET_GPU,
    /** Restart of the bare metal, that is of the node. */
    RESTART_BM,
    /** Restart of the virtual machine. */
    RESTART_VM,
    /** Somebody has to look at power and seating. */
    CHECK_MECHANICALS,
    /** A case for the vendor. */
    CONTACT_SUPPORT,
    /** Update of software or firmware. */
    UPDATE_SWFW,
    /** A look at unified memory's own messages. */
    CHECK_UVM,
    /** XID 45's own steps: it follows another fault, or the fabric manager has to be restarted. */
    WORKFLOW_XID_45,
    /** XID 48's own steps: reset, unless 63 or 64 came with it. */
    WORKFLOW_XID_48,
    /** Steps for NVLink up to the fourth generation. */
    WORKFLOW_NVLINK_ERR,
    /** Steps for NVLink of the fifth generation. */
    WORKFLOW_NVLINK5_ERR,
    /** XID 154: the driver's recovery action changed and is to be read. */
    RECOVERY_ACTION_CHANGED,
    /** The catalogue states none. */
    UNSTATED
}
