package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.app.DaemonSilence;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.LedgerUpdate;
import io.gpufleet.allocation.model.ledger.NodeClock;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.UsageEntry;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Projection of the bus into the ledger; a closed interval is published in the transaction that changes the holdings. */
public final class AllocationProjection implements Projection<NodeLedger> {
    private static final ProjectionSpec SPEC = new ProjectionSpec(
            Topic.HOLDINGS,
            EventType.HOLDINGS_CHANGED,
            1,
            Set.of(Topic.ALLOCATION, Topic.VERDICTS, Topic.INVENTORY, Topic.SIGNALS),
            Set.of(Topic.TELEMETRY),
            Set.of(Topic.USAGE));
    /** Intervals are in whole seconds of the node's clock; nobody waits for them. */
    private static final Duration LINGER = Duration.ofMillis(200);

    private final String cluster;
    private final DaemonSilence silence = new DaemonSilence();
    private final Interner<String> texts = new Interner<>();
    private final LedgerFactMapper facts = new LedgerFactMapper(texts);

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
        return LedgerMapper.ledger((NodeHoldings) state, texts);
    }

    @Override
    public Message write(String node, NodeLedger ledger) {
        return LedgerMapper.state(ledger);
    }

    @Override
    public Effects<NodeLedger> on(States<NodeLedger> states, Inbound input, Instant now) {
        String node = input.key();
        NodeLedger before = states.get(node).orElse(NodeLedger.EMPTY);
        if (input instanceof Inbound.Heartbeat heartbeat) {
            return heard(node, before, heartbeat.appendedAt(), now);
        }
        if (input instanceof Inbound.Event event && event.envelope().source() instanceof EventSource.Node) {
            silence.heard(node, event.appendedAt());
        }
        List<LedgerFact> told = new ArrayList<>(facts.of(input));
        if (told.stream().anyMatch(LedgerFact.MachineGone.class::isInstance)) {
            silence.lastWord(node).ifPresent(at -> told.addFirst(new LedgerFact.DaemonHeard(at)));
        }
        return fold(node, before, told, input, now);
    }

    private Effects<NodeLedger> fold(
            String node, NodeLedger before, List<LedgerFact> facts, Inbound input, Instant now) {
        LedgerUpdate update = LedgerReducer.fold(cluster, node, before, facts);
        List<Outbound.Event> outputs = outputs(node, update, now).stream()
                .map(output -> output.causedBy(input))
                .toList();
        return update.next().equals(before) ? Effects.publish(outputs) : Effects.state(node, update.next(), outputs);
    }

    /** Heartbeats are remembered here and recorded now and then, so that a restart knows the last word roughly. */
    private Effects<NodeLedger> heard(String node, NodeLedger before, Instant at, Instant now) {
        silence.heard(node, at);
        boolean matters = before.devices().silent() || records(before, at);
        return matters ? facts(node, before, List.of(new LedgerFact.DaemonHeard(at)), now) : Effects.none();
    }

    /** Of a node that holds nothing, the last word is recorded less often. */
    private boolean records(NodeLedger before, Instant at) {
        Instant recorded = before.clock().heardAt();
        return before.open().isEmpty()
                ? before.devices().hasGpus() && silence.shouldRecordIdle(recorded, at)
                : silence.shouldRecord(recorded, at);
    }

    private Effects<NodeLedger> facts(String node, NodeLedger before, List<LedgerFact> facts, Instant now) {
        LedgerUpdate update = LedgerReducer.fold(cluster, node, before, facts);
        return Effects.state(node, update.next(), outputs(node, update, now));
    }

    @Override
    public void restarted(States<NodeLedger> states, Instant now) {
        List<String> awaited = new ArrayList<>();
        states.forEach((node, ledger) -> {
            if (ledger.awaitsDaemon()) {
                awaited.add(node);
            }
        });
        silence.restarted(awaited, now);
    }

    @Override
    public Collection<String> due(States<NodeLedger> states, Progress progress, Instant now) {
        return silence.silent(
                node -> progress.caughtUpFor(Topic.TELEMETRY, node, now),
                node -> states.get(node).map(NodeLedger::awaitsDaemon).orElse(false),
                now);
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
            return silent(node, before, now);
        }
        LedgerUpdate last = LedgerReducer.forget(cluster, node, before, goneSince);
        return Effects.forget(node, outputs(node, last, now));
    }

    /** Ends the holdings of a silent daemon at its last event; their time is unreachable from then on. */
    private Effects<NodeLedger> silent(String node, NodeLedger before, Instant now) {
        Instant last = silence.lastWord(node).orElse(before.clock().heardAt());
        if (!before.awaitsDaemon() || last.plus(NodeClock.TOLERATED_SILENCE).isAfter(now)) {
            return Effects.none();
        }
        return facts(node, before, List.of(new LedgerFact.DaemonSilent(last)), now);
    }

    private static List<Outbound.Event> outputs(String node, LedgerUpdate update, Instant now) {
        return Stream.concat(
                        update.published().stream().map(entry -> usage(node, update.next(), entry, now)),
                        update.deviceTime().stream()
                                .map(interval -> Outbound.Event.of(
                                                Topic.USAGE,
                                                EventType.DEVICE_ACCOUNTED,
                                                node,
                                                DeviceTimeMapper.message(node, interval),
                                                now)
                                        .about(interval.gpu().uuid())))
                .toList();
    }

    private static Outbound.Event usage(String node, NodeLedger ledger, UsageEntry entry, Instant now) {
        UsageInterval message = LedgerMapper.usage(node, ledger, entry);
        EventType type = switch (entry) {
            case UsageEntry.Closed _ -> EventType.USAGE_CLOSED;
            case UsageEntry.Adjusted _ -> EventType.USAGE_ADJUSTED;
        };
        return Outbound.Event.of(Topic.USAGE, type, node, message, now).about(message.getDeviceUuid());
    }
}
