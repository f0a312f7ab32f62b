package io.gpufleet.bench.projection;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.HeldDevice;
import io.gpufleet.proto.allocation.v1.Holder;
import io.gpufleet.proto.health.v1.DeviceOffer;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
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
import io.gpufleet.wire.Topics;
import java.time.Instant;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Events of a real fleet, every node with a key and devices of its own. */
public final class FleetEvents implements AutoCloseable {
    static final String CLUSTER = "local";
    private static final String BOOT = "5d3c1f0e-7f0a-4b43-8f3e-0d3f5c9a1b77";
    /** Eight digits that every node replaces by its own. */
    private static final String PLACEHOLDER = "a0a0a0a0";

    private static final String ANNOUNCED = new String(Codec.toJson(announced()), UTF_8);
    /** Each has another pod on one GPU than the one before, the first another one than the last. */
    private static final List<String> HELD = IntStream.range(0, 8)
            .mapToObj(round -> new String(Codec.toJson(held(round)), UTF_8))
            .toList();

    private static final List<String> FAULTS = IntStream.range(0, 8)
            .mapToObj(gpu -> new String(Codec.toJson(observed(fault(gpu, 31))), UTF_8))
            .toList();
    private static final String NO_FAULTS = new String(Codec.toJson(offered()), UTF_8);
    private static final String FATAL = new String(Codec.toJson(observed(fault(0, 79))), UTF_8);
    private static final String REPAIRED = new String(
            Codec.toJson(FaultCleared.newBuilder()
                    .setBootId(BOOT)
                    .setFault(fault(0, 79))
                    .setProof("bench")
                    .build()),
            UTF_8);

    private final Codec codec = new Codec(CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private final int nodes;
    /** How often the holders of a node have changed. */
    private final int[] rounds;

    private final Map<Topic, int[]> sequences = new EnumMap<>(Topic.class);
    private final long epoch = System.currentTimeMillis();
    private final Instant time = Instant.now();
    /** Announcements are compressed by their writer, as the topic wants them. */
    private final RecordSender compressed;

    private final RecordSender plain;

    /** Writes to the broker as the daemons of so many nodes. */
    public FleetEvents(String bootstrap, int nodes) {
        this.nodes = nodes;
        this.rounds = new int[nodes];
        this.compressed = new RecordSender(bootstrap, "gzip");
        this.plain = new RecordSender(bootstrap, "none");
    }

    /** Every node is announced with its eight GPUs. */
    public void announceAll() {
        for (int node = 0; node < nodes; node++) {
            send(EventType.NODE_ANNOUNCED, Topic.INVENTORY, node, ANNOUNCED);
        }
        flush();
    }

    /** Four GPUs of every node have a holder. */
    void holdAll() {
        for (int node = 0; node < nodes; node++) {
            send(EventType.DEVICES_HELD, Topic.ALLOCATION, node, HELD.getFirst());
        }
        flush();
    }

    /** A tenth announcements as before, nine tenths snapshots of holders, each with a pod that was not there before; every node in turn. */
    void change(int events) {
        for (int i = 0; i < events; i++) {
            int node = nodeOf(i, nodes);
            if (i % 10 == 0) {
                send(EventType.NODE_ANNOUNCED, Topic.INVENTORY, node, ANNOUNCED);
            } else {
                int round = ++rounds[node];
                // A pod has a GPU for four seconds: an interval without length is none.
                send(
                        EventType.DEVICES_HELD,
                        Topic.ALLOCATION,
                        node,
                        HELD.get(round % HELD.size()),
                        time.plusSeconds(round));
            }
        }
        flush();
    }

    /** Every node is announced again and has no open fault, as daemons say every 6 h. */
    public void snapshotAll() {
        for (int node = 0; node < nodes; node++) {
            send(EventType.NODE_ANNOUNCED, Topic.INVENTORY, node, ANNOUNCED);
            send(EventType.FAULTS_OPEN, Topic.HEALTH, node, NO_FAULTS);
        }
        flush();
    }

    /** The mix: 1 % announcements, 9 % snapshots of holders, 90 % faults of an application; every node in turn. */
    void mix(int events) {
        for (int i = 0; i < events; i++) {
            ofMix(i);
        }
        flush();
    }

    /** One event of the mix by its number; sent at the latest by {@link #flush}. */
    public void ofMix(long number) {
        int kind = (int) (number % 100);
        int node = nodeOf(number, nodes);
        if (kind == 0) {
            send(EventType.NODE_ANNOUNCED, Topic.INVENTORY, node, ANNOUNCED);
        } else if (kind < 10) {
            send(EventType.DEVICES_HELD, Topic.ALLOCATION, node, HELD.getFirst());
        } else {
            send(EventType.FAULT_OBSERVED, Topic.HEALTH, node, FAULTS.get((int) (number % 8)));
        }
    }

    /** Every node once in each round, and by another event of the mix each time, also where a hundred divides their number. */
    static int nodeOf(long number, int nodes) {
        return (int) ((number + number / nodes) * 7919L % nodes);
    }

    /** Name of a node. */
    public static String node(int index) {
        return "node-" + index;
    }

    /** The first GPU of a node falls off the bus; sent at the latest by {@link #flush}. */
    public void fatal(int node) {
        send(EventType.FAULT_OBSERVED, Topic.HEALTH, node, FATAL);
    }

    /** That GPU is proven to be back. */
    public void repaired(int node) {
        send(EventType.FAULT_CLEARED, Topic.HEALTH, node, REPAIRED);
    }

    /**
     * So many events by which the first GPU of each node in turn fails and is repaired, over and over; of every seventh node
     * the other way round. What is true in between is wrong at the end on every other node.
     *
     * @return the nodes that are left with a failed GPU
     */
    public BitSet failAndRepair(int events) {
        var failed = new BitSet(nodes);
        for (int i = 0; i < events; i++) {
            int node = i % nodes;
            boolean fails = (i / nodes % 2 == 0) == (node % 7 != 0);
            failed.set(node, fails);
            if (fails) {
                fatal(node);
            } else {
                repaired(node);
            }
        }
        flush();
        return failed;
    }

    /** Sends what waits, and waits for the broker; an event that it refused ends the measurement. */
    public void flush() {
        compressed.flush();
        plain.flush();
    }

    private void send(EventType type, Topic topic, int index, String template) {
        send(type, topic, index, template, time);
    }

    private void send(EventType type, Topic topic, int index, String template, Instant at) {
        String node = node(index);
        int sequence = ++sequences.computeIfAbsent(topic, _ -> new int[nodes])[index];
        var envelope = new Envelope(
                new EventId(node, epoch, topic, sequence),
                new EventSource.Node(CLUSTER, node),
                type,
                "",
                node,
                new EventTime(at, at, 0),
                "");
        String digits = HexFormat.of().toHexDigits(index, 8);
        byte[] json = template.replace(PLACEHOLDER, digits).getBytes(UTF_8);
        (topic == Topic.INVENTORY ? compressed : plain).send(codec.encode(envelope, json));
    }

    @Override
    public void close() {
        compressed.close();
        plain.close();
    }

    private static Message observed(Fault fault) {
        return FaultObserved.newBuilder().setBootId(BOOT).setFault(fault).build();
    }

    private static Fault fault(int gpu, int xid) {
        return Fault.newBuilder()
                .setDeviceUuid("GPU-" + PLACEHOLDER + "-0000-4000-8000-00000000000" + gpu)
                .setModel("NVIDIA H100 80GB HBM3")
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .setMessage("NVRM: Xid (PCI:0000:1b:00): " + xid + ", pid=1234, name=python")
                .build();
    }

    private static Message offered() {
        var open = OpenFaults.newBuilder().setBootId(BOOT);
        for (int i = 0; i < 8; i++) {
            open.addOffers(DeviceOffer.newBuilder()
                    .setDeviceUuid("GPU-" + PLACEHOLDER + "-0000-4000-8000-00000000000" + i)
                    .setOfferedHealthy(true)
                    .setLocallyHealthy(true));
        }
        return open.build();
    }

    private static Message held(int round) {
        var held = DevicesHeld.newBuilder().setBootId(BOOT).setComplete(true);
        for (int i = 0; i < 4; i++) {
            String uuid = "GPU-" + PLACEHOLDER + "-0000-4000-8000-00000000000" + i;
            held.addHolders(Holder.newBuilder()
                    .setNamespace("team-a")
                    .setPod("train-" + PLACEHOLDER + "-" + i + "-" + (round + 3 - i) / 4 % 2)
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
                    .setUuid("GPU-" + PLACEHOLDER + "-0000-4000-8000-00000000000" + i)
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
