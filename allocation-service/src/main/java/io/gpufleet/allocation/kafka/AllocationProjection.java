package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.model.ledger.IntervalEndReason;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.LedgerUpdate;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** Projection of the bus into the ledger; a closed interval is published in the transaction that changes the holdings. */
public final class AllocationProjection implements Projection<NodeLedger> {
    private static final ProjectionSpec SPEC = new ProjectionSpec(
            Topic.HOLDINGS,
            EventType.HOLDINGS_CHANGED,
            1,
            Set.of(Topic.ALLOCATION, Topic.VERDICTS, Topic.INVENTORY, Topic.SIGNALS),
            Set.of(),
            Set.of(Topic.USAGE));
    /** Intervals are in whole seconds of the node's clock; nobody waits for them. */
    private static final Duration LINGER = Duration.ofMillis(50);

    private final String cluster;

    /** The ledger of a cluster, whose name is part of every interval id. */
    public AllocationProjection(String cluster) {
        this.cluster = cluster;
    }

    @Override
    public ProjectionSpec spec() {
        return SPEC;
    }

    @Override
    public Duration linger() {
        return LINGER;
    }

    @Override
    public NodeLedger read(String node, Message state) {
        return LedgerMapper.ledger((NodeHoldings) state);
    }

    @Override
    public Message write(String node, NodeLedger ledger) {
        return LedgerMapper.state(ledger);
    }

    @Override
    public Effects<NodeLedger> on(States<NodeLedger> states, Inbound input, Instant now) {
        List<LedgerFact> facts = LedgerFactMapper.of(input);
        String node = input.key();
        NodeLedger before = states.get(node).orElse(NodeLedger.EMPTY);
        LedgerUpdate update = LedgerReducer.fold(cluster, node, before, facts);
        List<Outbound.Event> outputs = update.published().stream()
                .map(entry -> usage(node, entry, now).causedBy(input))
                .toList();
        return update.next().equals(before) ? Effects.publish(outputs) : Effects.state(node, update.next(), outputs);
    }

    @Override
    public Instant wakeAt(NodeLedger ledger) {
        return ledger.forgettableAt().orElse(Instant.MAX);
    }

    /** Forgets a node that is gone for long; what its daemon still reported as held ends with it. */
    @Override
    public Effects<NodeLedger> tick(String node, States<NodeLedger> states, Instant now) {
        NodeLedger before = states.get(node).orElse(NodeLedger.EMPTY);
        Instant goneSince = before.goneSince();
        if (goneSince == null || wakeAt(before).isAfter(now)) {
            return Effects.none();
        }
        LedgerUpdate last = LedgerReducer.fold(
                cluster, node, before, new LedgerFact.MachineGone(goneSince, IntervalEndReason.NODE_LOST));
        return Effects.forget(
                node,
                last.published().stream().map(entry -> usage(node, entry, now)).toList());
    }

    private static Outbound.Event usage(String node, UsageEntry entry, Instant now) {
        UsageInterval message = LedgerMapper.usage(entry);
        EventType type = switch (entry) {
            case UsageEntry.Closed _ -> EventType.USAGE_CLOSED;
            case UsageEntry.Adjusted _ -> EventType.USAGE_ADJUSTED;
        };
        return Outbound.Event.of(Topic.USAGE, type, node, message, now).about(message.getDeviceUuid());
    }
}
