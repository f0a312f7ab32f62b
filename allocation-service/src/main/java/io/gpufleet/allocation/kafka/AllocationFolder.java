package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.app.LedgerBook;
import io.gpufleet.allocation.model.ledger.EndReason;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerStep;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.fold.Folder;
import io.gpufleet.wire.fold.Inbound;
import io.gpufleet.wire.fold.Outbound;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The ledger as a fold of the bus: what closes is published in the transaction that changes the holdings. */
public final class AllocationFolder implements Folder {
    /**
     * Who wants to know whether this replica is the active one.
     *
     * @param begins the state is complete, this replica acts
     * @param ends it acts no more
     */
    public record Acting(Runnable begins, Runnable ends) {}

    private final LedgerBook book;
    private final Acting acting;

    /** A fold into a ledger. */
    public AllocationFolder(LedgerBook book, Acting acting) {
        this.book = book;
        this.acting = acting;
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
        book.clear();
    }

    @Override
    public void restore(String key, Message state) {
        book.restore(key, LedgerMessages.ledger((NodeHoldings) state));
    }

    @Override
    public void forget(String key) {
        book.forget(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant now) {
        List<LedgerFact> facts = new ArrayList<>();
        if (event.newMachine()) {
            facts.add(new LedgerFact.MachineGone(event.appendedAt(), EndReason.MACHINE_REPLACED));
        }
        LedgerFacts.of(event).ifPresent(facts::add);
        return fold(event.key(), facts, now);
    }

    @Override
    public List<Outbound> foldTombstone(Topic topic, String key, Instant appendedAt) {
        return topic == Topic.VERDICTS
                ? fold(key, List.of(new LedgerFact.TrustChanged(Map.of(), appendedAt)), appendedAt)
                : List.of();
    }

    private List<Outbound> fold(String node, List<LedgerFact> facts, Instant now) {
        NodeLedger before = book.ledger(node);
        List<Outbound> outputs = new ArrayList<>();
        for (LedgerFact fact : facts) {
            LedgerStep step = book.fold(node, fact);
            step.published().forEach(entry -> outputs.add(usage(node, entry, now)));
        }
        NodeLedger after = book.ledger(node);
        if (!after.equals(before)) {
            outputs.add(Outbound.Event.of(
                    Topic.HOLDINGS, EventType.HOLDINGS_CHANGED, node, LedgerMessages.state(after), now));
        }
        return outputs;
    }

    private static Outbound usage(String node, UsageEntry entry, Instant now) {
        UsageInterval message = LedgerMessages.usage(entry);
        EventType type = switch (entry) {
            case UsageEntry.Closed _ -> EventType.USAGE_CLOSED;
            case UsageEntry.Adjusted _ -> EventType.USAGE_ADJUSTED;
        };
        return Outbound.Event.of(Topic.USAGE, type, node, message, now).about(message.getDeviceUuid());
    }

    @Override
    public void activated(Instant now) {
        acting.begins().run();
    }

    @Override
    public void deactivated() {
        acting.ends().run();
    }
}
