package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.runtime.consistency.RecordSizes;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Every share of every MIG device of a node is held, by pods of the longest names: the ledger and its usage fit. */
class LargeHoldingsTest {
    private static final String NODE = "node-1";
    private static final int SHARES = 8 * 7 * 32;
    private static final Instant START = Instant.parse("2026-11-20T12:00:00Z");

    private final AllocationProjection projection = new AllocationProjection("c1");
    private final Map<String, NodeLedger> ledgers = new HashMap<>();
    private final States<NodeLedger> states = new States<>() {
        @Override
        public Optional<NodeLedger> get(String key) {
            return Optional.ofNullable(ledgers.get(key));
        }

        @Override
        public int size() {
            return ledgers.size();
        }

        @Override
        public void forEach(BiConsumer<String, NodeLedger> each) {
            ledgers.forEach(each);
        }
    };
    private long sequence;

    private static String name(String of, int number, int length) {
        String unique = of + "-" + number + "-";
        return unique + "x".repeat(length - unique.length());
    }

    private Effects<NodeLedger> held(int seconds, DevicesHeld held) {
        Instant at = START.plusSeconds(seconds);
        var envelope = new Envelope(
                new EventId(NODE, 1, Topic.ALLOCATION, ++sequence),
                new EventSource.Node("c1", NODE),
                EventType.DEVICES_HELD,
                "",
                NODE,
                new EventTime(at, at, 0),
                "");
        Effects<NodeLedger> effects = projection.on(states, new Inbound.Event(envelope, held, at, false), at);
        ledgers.putAll(effects.states());
        return effects;
    }

    @Test
    void ledgerAndUsageOfEveryShareFit() {
        // Given
        var all = DevicesHeld.newBuilder().setBootId("boot-1").setComplete(true);
        for (int share = 0; share < SHARES; share++) {
            all.addHolders(Holder.newBuilder()
                    .setNamespace(name("namespace", share, 63))
                    .setPod(name("pod", share, 200))
                    .setPodUid(name("uid", share, 36))
                    .addDevices(HeldDevice.newBuilder()
                            .setDeviceUuid(name("MIG", share / 32, 60))
                            .setId(name("MIG", share, 64))
                            .setReplica(share % 32)
                            .setShareOf(32)));
        }
        assertThat(Codec.toValue(EventType.DEVICES_HELD, all.build()).length).isBetween(900_000, 1024 * 1024);

        // When
        Effects<NodeLedger> begun = held(0, all.build());
        Effects<NodeLedger> closed = held(
                3_600,
                DevicesHeld.newBuilder().setBootId("boot-1").setComplete(true).build());

        // Then
        RecordSizes.assertThatAllFit(projection, begun);
        RecordSizes.assertThatAllFit(projection, closed);
        assertThat(closed.outputs()).hasSizeGreaterThanOrEqualTo(SHARES);
    }
}
