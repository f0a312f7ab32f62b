package io.gpufleet.bench.projection;

import com.google.protobuf.Message;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NvlinkPeer;
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
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Events in the mix of a real fleet: 1 % announcements of 8 GPUs, 9 % snapshots of holders, 90 % small facts. */
final class EventMix {
    static final String BOOT = "5d3c1f0e-7f0a-4b43-8f3e-0d3f5c9a1b77";
    private static final Instant TIME = Instant.parse("2026-11-20T12:00:00Z");
    private static final Message ANNOUNCED = announced();
    private static final Message HELD = held();

    private EventMix() {}

    /** Produces this many events of this many nodes. */
    static void produce(String bootstrap, Codec codec, int events, int nodes) {
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("linger.ms", "20");
        config.put("batch.size", "131072");
        Map<String, Long> sequences = new HashMap<>();
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
            for (int i = 0; i < events; i++) {
                String node = "node-" + i % nodes;
                int kind = i / nodes % 100;
                EventType type = kind == 0
                        ? EventType.NODE_ANNOUNCED
                        : kind < 10 ? EventType.DEVICES_HELD : EventType.FAULT_OBSERVED;
                Message payload = kind == 0 ? ANNOUNCED : kind < 10 ? HELD : fault(i);
                Topic topic = type.topics().iterator().next();
                long sequence = sequences.merge(node + topic, 1L, Long::sum);
                producer.send(codec.encode(
                        new Envelope(
                                new EventId(node, 1000, topic, sequence),
                                new EventSource.Node("bench", node),
                                type,
                                "",
                                node,
                                new EventTime(TIME, TIME, 0),
                                ""),
                        payload));
            }
        }
    }

    private static Message fault(int i) {
        return FaultObserved.newBuilder()
                .setBootId(BOOT)
                .setFault(Fault.newBuilder()
                        .setDeviceUuid("GPU-8f1c2b3a-0000-4000-8000-00000000000" + i % 8)
                        .setModel("NVIDIA H100 80GB HBM3")
                        .setKind(FaultKind.FAULT_KIND_XID)
                        .setXid(31)
                        .setMessage("NVRM: Xid (PCI:0000:1b:00): 31, pid=1234, name=python"))
                .build();
    }

    private static Message held() {
        var held = DevicesHeld.newBuilder().setBootId(BOOT).setComplete(true);
        for (int i = 0; i < 4; i++) {
            String uuid = "GPU-8f1c2b3a-0000-4000-8000-00000000000" + i;
            held.addHolders(Holder.newBuilder()
                    .setNamespace("team-a")
                    .setPod("train-" + i)
                    .setContainer("main")
                    .setResource("nvidia.com/gpu")
                    .addDevices(HeldDevice.newBuilder()
                            .setId(uuid)
                            .setDeviceUuid(uuid)
                            .setShortModel("H100")
                            .setShareOf(1)));
        }
        return held.build();
    }

    private static Message announced() {
        var announced = NodeAnnounced.newBuilder().setBootId(BOOT).setDriverVersion("550.54.15");
        for (int i = 0; i < 8; i++) {
            var gpu = Gpu.newBuilder()
                    .setUuid("GPU-8f1c2b3a-0000-4000-8000-00000000000" + i)
                    .setIndex(i)
                    .setPciBusId("00000000:%02X:00.0".formatted(0x1b + i))
                    .setModel("NVIDIA H100 80GB HBM3")
                    .setShortModel("H100")
                    .setFamily("hopper")
                    .setMemoryBytes(85_520_809_984L)
                    .setResource("nvidia.com/gpu");
            for (int peer = 0; peer < 4; peer++) {
                gpu.addNvlinkPeers(NvlinkPeer.newBuilder().setLinks(4).setViaSwitch(true));
            }
            announced.addGpus(gpu);
        }
        return announced.build();
    }
}
