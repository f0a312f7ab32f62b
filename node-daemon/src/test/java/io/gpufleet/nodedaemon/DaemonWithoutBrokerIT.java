package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon process with a kubelet and without a broker, which is not needed to give GPUs to pods. */
class DaemonWithoutBrokerIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static Vertx vertx;

    @TempDir
    Path directory;

    private Path kubeletDirectory = Path.of("");
    private FakeKubelet kubelet;

    @BeforeAll
    static void open() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void close() {
        vertx.close();
    }

    @BeforeEach
    void startKubelet() throws IOException {
        // The path of a socket has at most 107 bytes.
        kubeletDirectory = SocketDirectory.create();
        kubelet = FakeKubelet.start(vertx, kubeletDirectory);
    }

    @AfterEach
    void stopKubelet() {
        kubelet.close();
    }

    private DaemonProcess daemon(Map<String, String> more) throws IOException {
        var settings = new HashMap<>(Map.of(
                "GPUFLEET_KAFKA",
                "127.0.0.1:1",
                "GPUFLEET_NODE",
                "n-alone",
                "GPUFLEET_DEVICE_PLUGIN_DIR",
                kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET",
                kubelet.podResourcesSocket().toString()));
        settings.putAll(more);
        return new DaemonProcess(directory, settings);
    }

    private int allocatable() {
        return kubelet.resource(GPUS).map(AdvertisedResource::allocatable).orElse(0);
    }

    private void awaitAllocatable(int devices) {
        await().atMost(TIMEOUT).until(() -> allocatable() == devices);
    }

    @Test
    void withdrawnDeviceIsNotAllocated() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);
            daemon.fault(0, 79);
            awaitAllocatable(7);

            assertThatThrownBy(() -> kubelet.allocate("team-a", "all", "main", GPUS, 8))
                    .hasMessageContaining(GPUS);
            assertThat(kubelet.allocate("team-a", "rest", "main", GPUS, 7).deviceIds())
                    .hasSize(7);
        }
    }

    /** The sockets of daemons, in the directory of plugins that the kubelet connects to by itself. */
    private List<Path> registered() throws IOException {
        try (Stream<Path> files = Files.list(kubelet.pluginsRegistryDirectory())) {
            return files.filter(file -> file.getFileName().toString().startsWith("gpufleet-"))
                    .toList();
        }
    }

    private Map<String, String> pluginsRegistry() {
        return Map.of(
                "GPUFLEET_KUBELET_REGISTRATION",
                "plugins-registry",
                "GPUFLEET_PLUGINS_REGISTRY_DIR",
                kubelet.pluginsRegistryDirectory().toString());
    }

    @Test
    void daemonThatIsEndedWhileItStartsLeavesNoSocket() throws Exception {
        try (var daemon = daemon(pluginsRegistry())) {
            await().atMost(TIMEOUT)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> !registered().isEmpty());

            daemon.terminate();

            assertThat(registered()).isEmpty();
        }
    }

    @Test
    void daemonThatCannotStartLeavesNoSocket() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var settings = new HashMap<>(pluginsRegistry());
            settings.put("GPUFLEET_HTTP_PORT", Integer.toString(taken.getLocalPort()));
            try (var daemon = daemon(settings)) {
                assertThat(daemon.exit()).isNotZero();

                assertThat(registered()).isEmpty();
            }
        }
    }

    @Test
    void socketsOfAKilledDaemonAreRemovedByTheNextOneAndThoseOfThatByItsEnd() throws Exception {
        try (var daemon = daemon(pluginsRegistry())) {
            awaitAllocatable(8);
            List<Path> left = registered();
            daemon.kill();
            assertThat(registered()).isEqualTo(left).hasSize(1);

            daemon.restart();

            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(registered()).hasSize(1).doesNotContainAnyElementsOf(left));
            awaitAllocatable(8);
            daemon.terminate();
            assertThat(registered()).isEmpty();
        }
    }

    @Test
    void requestsOfTheLargestSizeLeaveMemoryForOthers() throws Exception {
        EventLoop loop = EventLoops.open("large-requests");
        var calls = new UnixGrpcClient(loop);
        var ids = ContainerAllocateRequest.newBuilder();
        for (int i = 0; i < 330_000; i++) {
            ids.addDevicesIds("GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c160::" + i);
        }
        AllocateRequest largest =
                AllocateRequest.newBuilder().addContainerRequests(ids).build();
        assertThat(largest.getSerializedSize()).isBetween(15 << 20, (int) UnixSocketGrpc.MAX_MESSAGE_SIZE);
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);

            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> calls.call(pluginSocket(), KubeletMethods.ALLOCATE, largest, TIMEOUT)
                                .toCompletableFuture()
                                .join())
                        .hasMessageContaining("unknown device");
            }

            assertThat(kubelet.allocate("team-a", "all", "main", GPUS, 8).deviceIds())
                    .hasSize(8);
            assertThat(daemon.errors()).isEmpty();
        } finally {
            loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    private Path pluginSocket() {
        try (Stream<Path> files = Files.list(kubelet.devicePluginDirectory())) {
            return files.filter(file -> file.getFileName().toString().startsWith("gpufleet-"))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void restartedKubeletGetsTheDevicesAgain() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);

            for (int i = 0; i < 3; i++) {
                kubelet.restart();
                awaitAllocatable(8);
            }

            assertThat(daemon.errors()).isEmpty();
        }
    }

    @Test
    void daemonMayStartBeforeTheKubelet() throws Exception {
        kubelet.close();
        try (var daemon = daemon(Map.of())) {
            await().atMost(TIMEOUT).until(() -> daemon.page("/readyz").contains("is the kubelet running"));

            kubelet = FakeKubelet.start(vertx, kubeletDirectory);

            awaitAllocatable(8);
        }
    }

    @Test
    void faultSurvivesAKillOfTheDaemon() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);
            daemon.fault(2, 79);
            awaitAllocatable(7);
            await().atMost(TIMEOUT)
                    .until(() -> Files.exists(directory.resolve("state/devices.json"))
                            && Files.readString(directory.resolve("state/devices.json"))
                                    .contains("xid-79"));

            daemon.kill();
            daemon.clear(2);
            daemon.restart();

            await().atMost(TIMEOUT)
                    .until(() -> kubelet.resource(GPUS)
                                    .filter(AdvertisedResource::connected)
                                    .isPresent()
                            && kubelet.registrations(GPUS) == 2);
            awaitAllocatable(7);
        }
    }

    @Test
    void daemonRunsWithoutAnyBroker() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);

            assertThat(kubelet.allocate("team-a", "train-0", "main", GPUS, 1).deviceIds())
                    .hasSize(1);
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("broker unreachable"));
            assertThat(daemon.page("/readyz")).startsWith("200");
        }
    }

    @Test
    void kafkaThatIsNotResolvedIsOneLineOfEachClientAReasonAndAMetric() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_KAFKA", "no-such-host.invalid:9092"))) {
            // When each client has tried it several times
            await().atMost(TIMEOUT).until(() -> metric(daemon, "gpufleet_daemon_broker_connects_total") >= 4);

            assertThat(daemon.log().lines().filter(line -> line.contains("no-such-host.invalid")))
                    .as(daemon.log())
                    .hasSizeBetween(1, 2)
                    .allMatch(line -> line.contains("broker unreachable"))
                    .doesNotHaveDuplicates();
            assertThat(daemon.page("/readyz"))
                    .startsWith("503")
                    .contains("no name of 'no-such-host.invalid:9092' can be resolved; check GPUFLEET_KAFKA");
            assertThat(metric(daemon, "gpufleet_daemon_broker_unresolvable")).isEqualTo(1);
        }
    }

    private static double metric(DaemonProcess daemon, String name) {
        return daemon.page("/metrics")
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Test
    void unknownSettingIsRejectedInOneLine() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_DEVICE", "nvml"))) {
            assertThat(daemon.exit()).isEqualTo(2);
            assertThat(daemon.log().lines())
                    .singleElement()
                    .asString()
                    .contains("GPUFLEET_DEVICE=nvml", "GPUFLEET_DEVICES");
        }
    }

    @Test
    void kafkaThatIsNoServerIsRejectedInOneLine() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_KAFKA", "nonsense"))) {
            assertThat(daemon.exit()).isEqualTo(2);
            assertThat(daemon.log().lines())
                    .singleElement()
                    .asString()
                    .startsWith("node-daemon: GPUFLEET_KAFKA: 'nonsense' is no Kafka server")
                    .contains("host:port");
        }
    }

    @Test
    void portInUseIsRejectedInOneLine() throws Exception {
        try (var taken = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress());
                var daemon = daemon(Map.of("GPUFLEET_HTTP_PORT", Integer.toString(taken.getLocalPort())))) {
            assertThat(daemon.exit()).isEqualTo(2);
            assertThat(daemon.log().lines().filter(line -> line.startsWith("node-daemon:")))
                    .singleElement()
                    .asString()
                    .contains("GPUFLEET_HTTP_PORT=" + taken.getLocalPort(), "in use");
        }
    }
}
