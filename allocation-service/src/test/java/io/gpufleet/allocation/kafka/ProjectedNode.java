package io.gpufleet.allocation.kafka;

import com.google.protobuf.Message;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.proto.allocation.v1.DeviceInterval;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.inventory.v1.DriverState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A node as the projection has it: what is told of it, and what becomes of that. */
final class ProjectedNode {
    static final String NODE = "n1";
    static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static final Instant START = Instant.parse("2026-11-20T12:00:00Z");

    final AllocationProjection projection = new AllocationProjection("c1");
    final KnownStates states = new KnownStates();
    private long sequence;

    /** States that a test applies effects to, as the engine does. */
    static final class KnownStates implements States<NodeLedger> {
        final Map<String, NodeLedger> byKey = new HashMap<>();

        @Override
        public Optional<NodeLedger> get(String key) {
            return Optional.ofNullable(byKey.get(key));
        }

        @Override
        public int size() {
            return byKey.size();
        }

        @Override
        public void forEach(BiConsumer<String, NodeLedger> each) {
            byKey.forEach(each);
        }
    }

    static Instant at(int seconds) {
        return START.plusSeconds(seconds);
    }

    Inbound.Event event(Topic topic, EventType type, int seconds, Message payload) {
        return event(topic, type, at(seconds), false, payload);
    }

    Inbound.Event event(Topic topic, EventType type, Instant time, boolean newMachine, Message payload) {
        var source = new EventSource.Node("c1", NODE);
        var envelope = new Envelope(
                new EventId(NODE, 1, topic, ++sequence), source, type, "", NODE, new EventTime(time, time, 0), TRACE);
        return new Inbound.Event(envelope, payload, time, newMachine);
    }

    static DevicesHeld held(String boot, String... pods) {
        var held = DevicesHeld.newBuilder().setBootId(boot).setComplete(true);
        for (int i = 0; i < pods.length; i++) {
            held.addHolders(Holder.newBuilder()
                    .setNamespace("ml")
                    .setPod(pods[i])
                    .setPodUid("uid-" + pods[i])
                    .setContainer("main")
                    .setResource("nvidia.com/gpu")
                    .addDevices(HeldDevice.newBuilder()
                            .setId("g" + i)
                            .setDeviceUuid("g" + i)
                            .setShortModel("A100")
                            .setShareOf(1)));
        }
        return held.build();
    }

    Inbound.Event snapshot(int seconds, String... pods) {
        return event(Topic.ALLOCATION, EventType.DEVICES_HELD, seconds, held("boot-1", pods));
    }

    Effects<NodeLedger> apply(Inbound input) {
        Effects<NodeLedger> effects = projection.on(states, input, at(1_000));
        states.byKey.putAll(effects.states());
        return effects;
    }

    NodeLedger ledger() {
        return states.get(NODE).orElseThrow();
    }

    static List<UsageInterval> usage(Effects<NodeLedger> effects) {
        List<UsageInterval> usage = new ArrayList<>();
        for (Outbound output : effects.outputs()) {
            if (((Outbound.Event) output).payload() instanceof UsageInterval interval) {
                usage.add(interval);
            }
        }
        return usage;
    }

    Inbound.Event announced(int seconds, LocalHealth health) {
        var gpu = Gpu.newBuilder()
                .setUuid("g0")
                .setModel("NVIDIA A100-SXM4-80GB")
                .setShortModel("A100")
                .setResource("nvidia.com/gpu")
                .setLocalHealth(health);
        return event(
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                seconds,
                NodeAnnounced.newBuilder()
                        .setDriverState(DriverState.DRIVER_STATE_READY)
                        .addGpus(gpu)
                        .build());
    }

    static List<DeviceInterval> deviceTime(Effects<NodeLedger> effects) {
        List<DeviceInterval> intervals = new ArrayList<>();
        for (Outbound output : effects.outputs()) {
            if (((Outbound.Event) output).payload() instanceof DeviceInterval interval) {
                intervals.add(interval);
            }
        }
        return intervals;
    }

    Inbound.Event nodeDeleted(int seconds) {
        var fact = KubernetesFact.newBuilder()
                .setNodeDeleted(NodeDeleted.newBuilder().setUid("uid-1"))
                .build();
        var service = new EventSource.Service("c1", "health-service-0");
        var envelope = new Envelope(
                new EventId(service.name(), 1, Topic.SIGNALS, ++sequence),
                service,
                EventType.KUBERNETES_OBSERVED,
                "",
                NODE,
                new EventTime(at(seconds), at(seconds), 0),
                TRACE);
        return new Inbound.Event(envelope, fact, at(seconds), false);
    }
}
