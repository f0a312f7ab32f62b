package io.gpufleet.nodedaemon.app;

import io.gpufleet.catalogue.ImmediateAction;
import io.gpufleet.catalogue.Xid;
import io.gpufleet.catalogue.XidCatalogue;
import io.gpufleet.nodedaemon.model.Subcode.Need;
import java.util.Set;
import java.util.stream.Collectors;

/** What this daemon makes of the catalogue's actions. */
public final class XidPolicy {
    private XidPolicy() {}

    /** XIDs after which a GPU can not be used before somebody did something to it or to the node. */
    public static Set<Integer> withdrawing() {
        return XidCatalogue.standard().all().stream()
                .filter(xid -> need(xid.immediate()) == Need.REPAIR)
                .map(Xid::code)
                .collect(Collectors.toSet());
    }

    /** What a GPU needs after an error for which the catalogue has this action. */
    public static Need need(ImmediateAction action) {
        return switch (action) {
            case RESET_GPU, RESTART_BM, RESTART_VM, CHECK_MECHANICALS, CONTACT_SUPPORT, WORKFLOW_XID_48 -> Need.REPAIR;
            // The driver says itself what it asks for, and that is polled at once.
            case RECOVERY_ACTION_CHANGED -> Need.UNSAID;
            case WORKFLOW_NVLINK_ERR, WORKFLOW_NVLINK5_ERR, UNSTATED -> Need.UNSAID;
            case IGNORE, RESTART_APP, UPDATE_SWFW, CHECK_UVM, WORKFLOW_XID_45 -> Need.NOTHING;
        };
    }
}
