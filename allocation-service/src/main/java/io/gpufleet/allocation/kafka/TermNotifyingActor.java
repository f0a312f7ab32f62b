package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.TermListener;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.States;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Passes the terms of the active replica, and the lease of each, to the parts that write to Kubernetes. */
public final class TermNotifyingActor implements Actor<NodeLedger> {
    private final ActiveLease active;
    private final List<TermListener> listeners;

    /** The lease is set before the listeners learn of a term, and removed before they learn of its end. */
    public TermNotifyingActor(ActiveLease active, List<TermListener> listeners) {
        this.active = active;
        this.listeners = List.copyOf(listeners);
    }

    @Override
    public void begin(Lease lease, States<NodeLedger> states) {
        active.begin(lease::held);
        listeners.forEach(TermListener::activated);
    }

    @Override
    public void changed(Map<String, NodeLedger> states, Set<String> forgotten) {}

    @Override
    public void end() {
        active.end();
        listeners.forEach(TermListener::deactivated);
    }
}
