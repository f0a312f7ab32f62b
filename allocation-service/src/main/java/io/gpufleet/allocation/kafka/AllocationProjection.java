package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.model.ledger.IntervalEndReason;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerUpdate;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.projection.Inbound;
import io.gpufleet.wire.projection.Outbound;
import io.gpufleet.wire.projection.Projection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Projection of the bus into the ledger; a closed interval is published in the transaction that changes the holdings. */
public final class AllocationProjection implements Projection {
    /**
     * Callbacks on the role of this replica.
     *
     * @param onStartedLeading this replica is active and its state is complete
     * @param onStoppedLeading this replica is not active any more
     */
    public record LeaderCallbacks(Runnable onStartedLeading, Runnable onStoppedLeading) {}

    private final Ledger ledger;
    private final LeaderCallbacks callbacks;

    /** Folds into a ledger. */
    public AllocationProjection(Ledger ledger, LeaderCallbacks callbacks) {
        this.ledger = ledger;
        this.callbacks = callbacks;
    }

    @Override
    public Topic changelog() {
        return Topic.HOLDINGS;
    }

    @Override
    public EventType changelogType() {
        return EventType.HOLDINGS_CHANGED;
    }

    @Override
    public Set<Topic> inputs() {
        return Set.of(Topic.ALLOCATION, Topic.VERDICTS, Topic.INVENTORY, Topic.SIGNALS);
    }

    @Override
    public void clear() {
        ledger.clear();
    }

    @Override
    public void restore(String key, Message state) {
        ledger.restore(key, LedgerMapper.ledger((NodeHoldings) state));
    }

    @Override
    public void forget(String key) {
        ledger.forget(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant now) {
        List<LedgerFact> facts = new ArrayList<>();
        if (event.newMachine()) {
            facts.add(new LedgerFact.MachineGone(event.appendedAt(), IntervalEndReason.MACHINE_REPLACED));
        }
        LedgerFactMapper.of(event).ifPresent(facts::add);
        return fold(event.key(), facts, now);
    }

    @Override
    public List<Outbound> foldTombstone(Topic topic, String key, Instant appendedAt) {
        return topic == Topic.VERDICTS
                ? fold(key, List.of(new LedgerFact.TrustChanged(Map.of(), appendedAt)), appendedAt)
                : List.of();
    }

    private List<Outbound> fold(String node, List<LedgerFact> facts, Instant now) {
        NodeLedger before = ledger.ledger(node);
        List<Outbound> outputs = new ArrayList<>();
        for (LedgerFact fact : facts) {
            LedgerUpdate update = ledger.fold(node, fact);
            update.published().forEach(entry -> outputs.add(usage(node, entry, now)));
        }
        NodeLedger after = ledger.ledger(node);
        if (!after.equals(before)) {
            outputs.add(Outbound.Event.of(
                    Topic.HOLDINGS, EventType.HOLDINGS_CHANGED, node, LedgerMapper.state(after), now));
        }
        return outputs;
    }

    private static Outbound usage(String node, UsageEntry entry, Instant now) {
        UsageInterval message = LedgerMapper.usage(entry);
        EventType type = switch (entry) {
            case UsageEntry.Closed _ -> EventType.USAGE_CLOSED;
            case UsageEntry.Adjusted _ -> EventType.USAGE_ADJUSTED;
        };
        return Outbound.Event.of(Topic.USAGE, type, node, message, now).withSubject(message.getDeviceUuid());
    }

    @Override
    public void activated(Instant now) {
        callbacks.onStartedLeading().run();
    }

    @Override
    public void deactivated() {
        callbacks.onStoppedLeading().run();
    }
}
