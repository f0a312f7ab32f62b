package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.projection.StateListener;
import java.util.Map;
import java.util.Set;

/** Passes the committed states of the projection to the ledger that readers see. */
public record LedgerViewUpdater(Ledger ledger) implements StateListener<NodeLedger> {
    @Override
    public void cleared() {
        ledger.cleared();
    }

    @Override
    public void committed(Map<String, NodeLedger> states, Set<String> forgotten) {
        ledger.committed(states, forgotten);
    }
}
