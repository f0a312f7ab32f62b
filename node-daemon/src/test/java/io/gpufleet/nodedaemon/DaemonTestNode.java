package io.gpufleet.nodedaemon;

import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.SharedBroker;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** A node with a kubelet of its own on the broker that the tests share; its daemons are processes. */
final class DaemonTestNode implements AutoCloseable {
    static final String GPUS = "nvidia.com/gpu";
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final BrokerProcess broker = SharedBroker.get();
    private final Vertx vertx = Vertx.vertx();
    private final Path directory;
    private final String name;
    private final FakeKubelet kubelet;
    private final EventReader events;

    /** A node named after a test; the files of its daemon are below a directory. */
    DaemonTestNode(String test, Path directory) throws IOException {
        this.name = "n-" + Integer.toHexString(test.hashCode());
        this.directory = directory;
        this.events = EventReader.ofNode(broker.bootstrap(), new Codec("c1", new Topics(Topics.DEFAULT_PREFIX)), name);
        // The path of a socket has at most 107 bytes.
        this.kubelet = FakeKubelet.start(vertx, SocketDirectory.create());
    }

    BrokerProcess broker() {
        return broker;
    }

    FakeKubelet kubelet() {
        return kubelet;
    }

    DaemonProcess daemon(Map<String, String> more) {
        var settings = new HashMap<>(Map.of(
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_NODE", name,
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString()));
        settings.putAll(more);
        return new DaemonProcess(directory, settings);
    }

    int allocatable() {
        return kubelet.resource(GPUS).map(AdvertisedResource::allocatable).orElse(0);
    }

    void awaitAllocatable(int devices) {
        await().atMost(TIMEOUT).until(() -> allocatable() == devices);
    }

    /** Every event of the node up to now. */
    List<EventReader.ReadEvent> read() {
        return events.read();
    }

    EventNumbering numbering() {
        return new EventNumbering(read());
    }

    long count(EventType type) {
        return read().stream()
                .filter(read -> read.event().envelope().type() == type)
                .count();
    }

    /** Holders by the latest report, as namespace/pod/container. */
    TreeSet<String> holders() {
        var names = new TreeSet<String>();
        read().forEach(read -> {
            if (read.event().payload() instanceof DevicesHeld held) {
                names.clear();
                held.getHoldersList()
                        .forEach(holder ->
                                names.add(holder.getNamespace() + "/" + holder.getPod() + "/" + holder.getContainer()));
            }
        });
        return names;
    }

    /** Also compares what its daemon published with the contract: the broker ends with this JVM only. */
    @Override
    public void close() {
        events.close();
        kubelet.close();
        vertx.close();
        if (broker.alive()) {
            var _ = PublishedRecords.of(broker.bootstrap()).check();
        }
    }
}
