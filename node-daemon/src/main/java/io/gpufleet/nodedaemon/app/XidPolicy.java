package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.fault.XidSubcode.RepairNeed;
import io.gpufleet.xid.Withdrawals;
import io.gpufleet.xid.XidImmediateAction;
import java.util.Set;

/** Maps XIDs to local decisions, by the table that is generated from the policy of the health-service. */
public final class XidPolicy {
    private XidPolicy() {}

    /** Returns the XIDs after which a GPU is unusable before a reset, a reboot or a repair. */
    public static Set<Integer> withdrawing() {
        return Withdrawals.standard().xids();
    }

    /** Returns the repair need of a catalogue action. */
    public static RepairNeed need(XidImmediateAction action) {
        return switch (action) {
            case RESET_GPU, RESTART_BM, RESTART_VM, CHECK_MECHANICALS, CONTACT_SUPPORT, WORKFLOW_XID_48 ->
                RepairNeed.REPAIR;
            // The driver reports its recovery action itself, and it is polled at once.
            case RECOVERY_ACTION_CHANGED -> RepairNeed.UNSPECIFIED;
            case WORKFLOW_NVLINK_ERR, WORKFLOW_NVLINK5_ERR, UNSTATED -> RepairNeed.UNSPECIFIED;
            case IGNORE, RESTART_APP, UPDATE_SWFW, CHECK_UVM, WORKFLOW_XID_45 -> RepairNeed.NOTHING;
        };
    }
}
