package io.gpufleet.nodedaemon;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.inventory.v1.NodeSettings;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.SharedBroker;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings change under a running daemon, which nobody restarts. */
class DaemonSettingsIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String HALVES = """
            version: v1
            sharing:
              timeSlicing:
                resources: [{name: nvidia.com/gpu, replicas: 2}]
            """;

    private static BrokerProcess broker;
    private static Vertx vertx;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() {
        broker = SharedBroker.get();
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        vertx.close();
        var _ = PublishedRecords.of(broker.bootstrap()).check();
    }

    private DaemonProcess daemon(FakeKubelet kubelet, String node, Map<String, String> more) throws IOException {
        var settings = new HashMap<>(Map.of(
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_NODE", node,
                "GPUFLEET_DEVICES", "simulated:2xH100",
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString()));
        settings.putAll(more);
        return new DaemonProcess(directory, settings);
    }

    /** As editors and kubelets write: never half a file. */
    private static void replace(Path file, String text) throws IOException {
        Path next = Files.writeString(file.resolveSibling(".next"), text);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static List<String> healthy(FakeKubelet kubelet) {
        return kubelet.resource(GPUS).stream()
                .flatMap(view -> view.devices().stream())
                .filter(AdvertisedResource.Device::healthy)
                .map(AdvertisedResource.Device::id)
                .toList();
    }

    private static FakeKubelet kubelet() throws IOException {
        // A socket's path has 107 bytes at most.
        return FakeKubelet.start(vertx, SocketDirectory.create());
    }

    @Test
    void sharingIsSwitchedOnByAFileAndAHolderKeepsItsGpu() throws Exception {
        Path file = Files.writeString(directory.resolve("config.yaml"), "version: v1\n");
        try (var kubelet = kubelet();
                var daemon = daemon(kubelet, "n-file", Map.of("GPUFLEET_CONFIG_FILE", file.toString()))) {
            await().atMost(TIMEOUT).until(() -> healthy(kubelet).size() == 2);
            String held = kubelet.allocate("team-a", "train-0", "main", GPUS, 1)
                    .deviceIds()
                    .getFirst();
            await().atMost(TIMEOUT)
                    .until(() -> daemon.page("/metrics").contains("gpufleet_daemon_allocations_total 1"));

            // Two halves of the GPU that is free, none of the one that is held
            replace(file, HALVES);
            await().atMost(TIMEOUT)
                    .until(() -> healthy(kubelet).size() == 2
                            && healthy(kubelet).getFirst().contains("::"));
            assertThat(healthy(kubelet)).allMatch(id -> id.contains("::")).noneMatch(id -> id.startsWith(held));
            assertThat(kubelet.allocate("team-b", "small", "main", GPUS, 1)
                            .response()
                            .getEnvsMap()
                            .get("NVIDIA_VISIBLE_DEVICES"))
                    .isNotEqualTo(held)
                    .doesNotContain("::");

            // The rest when the holder has ended; a file that is broken meanwhile changes nothing
            replace(file, "version: [");
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("settings invalid, previous ones stay in force"));
            kubelet.release("team-a", "train-0");
            await().atMost(TIMEOUT).until(() -> healthy(kubelet).size() == 4);
            assertThat(kubelet.registrations(GPUS)).isEqualTo(1);
        }
    }

    @Test
    void labelSelectsThroughKafkaAndIsKeptForTheNextStart() throws Exception {
        Path configs = Files.createDirectory(directory.resolve("configs"));
        Files.writeString(configs.resolve("halves.yaml"), HALVES);
        try (var kubelet = kubelet();
                var daemon = daemon(kubelet, "n-label", Map.of("GPUFLEET_CONFIG_DIR", configs.toString()))) {
            await().atMost(TIMEOUT).until(() -> healthy(kubelet).size() == 2);

            choose("n-label", "halves");
            await().atMost(TIMEOUT).until(() -> healthy(kubelet).size() == 4);

            choose("n-label", "nothing-of-the-kind");
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("'nothing-of-the-kind'"));
            assertThat(healthy(kubelet)).hasSize(4);

            choose("n-label", "halves");
            await().atMost(TIMEOUT)
                    .until(() -> Files.readString(directory.resolve("state/selected-config"), UTF_8)
                            .contains("halves"));
            daemon.kill();
            daemon.restart();
            await().atMost(TIMEOUT)
                    .until(() ->
                            kubelet.registrations(GPUS) == 2 && healthy(kubelet).size() == 4);
        }
    }

    @Test
    void sharesOfMpsAreOfferedWhileTheControlDaemonAnswers() throws Exception {
        Path mps = directory.resolve("mps");
        Path file = Files.writeString(directory.resolve("config.yaml"), """
                version: v1
                flags: {mpsRoot: %s}
                sharing:
                  mps:
                    resources: [{name: nvidia.com/gpu, replicas: 2}]
                """.formatted(mps));
        Path folder = mps.resolve(GPUS);
        try (var kubelet = kubelet();
                var daemon = daemon(kubelet, "n-mps", Map.of("GPUFLEET_CONFIG_FILE", file.toString()))) {
            // Nobody carries the order out
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("MPS does not work"));
            await().atMost(TIMEOUT)
                    .until(() -> kubelet.resource(GPUS)
                            .filter(view -> view.devices().size() == 4)
                            .isPresent());
            assertThat(healthy(kubelet)).isEmpty();

            // Somebody does
            String version = Files.readAllLines(folder.resolve("desired")).getFirst();
            Files.writeString(Files.createDirectories(folder.resolve("pipe")).resolve("control"), "");
            replace(
                    folder.resolve("ready"),
                    version.substring("version=".length()) + "\n"
                            + ProcessHandle.current().pid() + "\n");
            await().atMost(TIMEOUT).until(() -> healthy(kubelet).size() == 4);
            assertThat(kubelet.allocate("team-a", "small", "main", GPUS, 1)
                            .response()
                            .getEnvsMap())
                    .containsEntry("CUDA_MPS_PIPE_DIRECTORY", "/mps/" + GPUS + "/pipe");

            // And falls silent
            Files.delete(folder.resolve("ready"));
            await().atMost(TIMEOUT).until(() -> healthy(kubelet).isEmpty());
        }
    }

    private static void choose(String node, String config) throws Exception {
        var codec = new Codec("c1", new Topics(Topics.DEFAULT_PREFIX));
        var envelope = new Envelope(
                new EventId("inventory-service-0", 1, Topic.SETTINGS, 1),
                new EventSource.Service("c1", "inventory-service-0"),
                EventType.SETTINGS_CHOSEN,
                "",
                node,
                new EventTime(Instant.now(), Instant.now(), 0),
                "");
        var settings = NodeSettings.newBuilder().setDevicePluginConfig(config).build();
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrap()), new StringSerializer(), new ByteArraySerializer())) {
            producer.send(codec.encode(envelope, settings)).get();
        }
    }
}
