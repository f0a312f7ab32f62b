package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.nvml.FakeNvml;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.UnallocatedUse;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.testbed.fakekubelet.DeviceAllocation;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.fakekubelet.PodKey;
import io.gpufleet.testbed.fakekubelet.ResourceView;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.PublishedSchemas;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** A daemon process with a kubelet and a real broker. */
class DaemonIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    static Path brokerDirectory;

    private static BrokerProcess broker;
    private static Vertx vertx;

    @TempDir
    Path directory;

    private Path kubeletDirectory = Path.of("");
    private FakeKubelet kubelet;
    private String node = "";

    @BeforeAll
    static void startBroker() {
        broker = BrokerProcess.start(brokerDirectory);
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void publishedRecordsFitTheContract() {
        vertx.close();
        var comparison = PublishedSchemas.load().compare(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        broker.close();
        assertThat(comparison.violations()).isEmpty();
        assertThat(comparison.records())
                .containsKeys("node.announced.v1", "fault.observed.v1", "devices.allocated.v1", "telemetry.sampled.v1");
    }

    @BeforeEach
    void startKubelet(TestInfo test) throws IOException {
        node = "n-" + Integer.toHexString(test.getDisplayName().hashCode());
        // The path of a socket has at most 107 bytes.
        kubeletDirectory = Files.createTempDirectory("k");
        kubelet = FakeKubelet.start(vertx, kubeletDirectory);
    }

    @AfterEach
    void stopKubelet() {
        kubelet.close();
    }

    private DaemonProcess daemon(Map<String, String> more) throws IOException {
        var settings = new HashMap<>(Map.of(
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "GPUFLEET_NODE", node,
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString()));
        settings.putAll(more);
        return new DaemonProcess(directory, settings);
    }

    private int allocatable() {
        return kubelet.resource(GPUS).map(ResourceView::allocatable).orElse(0);
    }

    private void awaitAllocatable(int devices) {
        await().atMost(TIMEOUT).until(() -> allocatable() == devices);
    }

    private List<EventReader.ReadEvent> read() {
        try (var reader =
                EventReader.ofNode(broker.bootstrap(), new Codec("c1", new Topics(Topics.DEFAULT_PREFIX)), node)) {
            return reader.read();
        }
    }

    private EventNumbering numbering() {
        return new EventNumbering(read());
    }

    private long count(EventType type) {
        return read().stream()
                .filter(read -> read.event().envelope().type() == type)
                .count();
    }

    @Test
    void podGetsItsGpusAndAllocationIsPublished() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);

            DeviceAllocation allocation = kubelet.allocate("team-a", "train-0", "main", GPUS, 2);

            assertThat(allocation.response().getEnvsMap())
                    .containsOnlyKeys("NVIDIA_VISIBLE_DEVICES")
                    .hasEntrySatisfying(
                            "NVIDIA_VISIBLE_DEVICES",
                            value -> assertThat(value.split(","))
                                    .containsExactlyInAnyOrderElementsOf(allocation.deviceIds()));
            await().atMost(TIMEOUT).until(() -> holders().contains("team-a/train-0/main"));
            assertThat(read())
                    .extracting(read -> read.event().envelope().type())
                    .contains(
                            EventType.NODE_ANNOUNCED,
                            EventType.FAULTS_OPEN,
                            EventType.DEVICES_ALLOCATED,
                            EventType.DEVICES_HELD,
                            EventType.TELEMETRY_SAMPLED);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(daemon.page("/readyz")).startsWith("200"));
            assertThat(daemon.page("/livez")).startsWith("200");
            assertThat(daemon.page("/metrics"))
                    .contains("gpufleet_daemon_allocations_total 1", "gpufleet_daemon_devices_healthy 8")
                    .containsPattern("DCGM_FI_DEV_GPU_TEMP\\{.*pod=\"train-0\",pod_uid=\"[^\"]+\"\\} \\d+");
        }
    }

    @Test
    void processesAreJoinedWithHoldersAndUnallocatedUseIsReported() throws Exception {
        // Given a pod that uses process GPU, one that uses it without an allocation, and a process of the host
        try (var nvml = FakeNvml.install(directory.resolve("driver"), 2);
                var daemon = daemon(Map.of(
                        "GPUFLEET_DEVICES",
                        "nvml",
                        "GPUFLEET_NVML_LIBRARY",
                        nvml.library().toString(),
                        "GPUFLEET_PROC_DIR",
                        directory.resolve("proc").toString(),
                        "GPUFLEET_TELEMETRY_INTERVAL",
                        "500ms"))) {
            awaitAllocatable(2);
            var pod = new PodKey("team-a", "train-0", "11111111-2222-3333-4444-555555555555");
            String held = kubelet.allocate(pod, "main", GPUS, 1).deviceIds().getFirst();
            int gpu = held.equals(FakeNvml.uuid(0)) ? 0 : 1;
            String otherPod = "99999999-2222-3333-4444-555555555555";
            process(
                    1001,
                    "/kubepods.slice/kubepods-pod" + pod.uid().replace('-', '_') + ".slice/cri-containerd-1.scope");
            process(1002, "/kubepods/besteffort/pod" + otherPod + "/2");
            process(1003, "/user.slice/user-1000.slice/session-1.scope");

            // When
            nvml.process(gpu, 1001, 3000).process(gpu, 1002, 200).process(1 - gpu, 1003, 10);

            // Then
            await().atMost(TIMEOUT).until(() -> unallocated().size() == 2);
            assertThat(unallocated())
                    .containsExactlyInAnyOrder(
                            unallocated(held, otherPod, 200), unallocated(FakeNvml.uuid(1 - gpu), "", 10));
            assertThat(daemon.page("/metrics"))
                    .containsPattern("gpufleet_gpu_unallocated_processes\\{gpu=\"0\",UUID=\"[^\"]+\"\\} 1\n")
                    .containsPattern("gpufleet_gpu_pod_memory_used_bytes\\{gpu=\"" + gpu
                            + "\",UUID=\"[^\"]+\",namespace=\"team-a\",pod=\"train-0\",pod_uid=\"" + pod.uid()
                            + "\"\\} 3000\n");

            // When they end
            nvml.noProcesses(0).noProcesses(1);

            // Then
            await().atMost(TIMEOUT).until(() -> unallocated().isEmpty());
        }
    }

    private void process(int pid, String cgroup) throws IOException {
        Path process = Files.createDirectories(directory.resolve("proc/" + pid));
        Files.writeString(process.resolve("comm"), "python3\n");
        Files.writeString(process.resolve("cgroup"), "0::" + cgroup + "\n");
    }

    private static UnallocatedUse unallocated(String device, String podUid, long bytes) {
        return UnallocatedUse.newBuilder()
                .setDeviceUuid(device)
                .setPodUid(podUid)
                .setProcesses(1)
                .setUsedBytes(bytes)
                .build();
    }

    private List<UnallocatedUse> unallocated() {
        return read().stream()
                .filter(read -> read.event().payload() instanceof DevicesHeld)
                .map(read -> ((DevicesHeld) read.event().payload()).getUnallocatedList())
                .reduce(List.of(), (_, later) -> later);
    }

    private TreeSet<String> holders() {
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

    @Test
    void fatalFaultWithdrawsTheDeviceAndNamesItsHolders() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_RECOVERY_DWELL", "500ms"))) {
            awaitAllocatable(8);
            kubelet.allocate("team-a", "train-0", "main", GPUS, 8);
            await().atMost(TIMEOUT).until(() -> holders().contains("team-a/train-0/main"));

            daemon.fault(3, 79);

            awaitAllocatable(7);
            await().atMost(TIMEOUT).until(() -> count(EventType.FAULT_OBSERVED) == 1);
            assertThat(read())
                    .filteredOn(read -> read.event().payload() instanceof FaultObserved)
                    .singleElement()
                    .satisfies(read -> assertThat(read.json()).contains("\"pod\":\"train-0\"", "\"xid\":79"));

            daemon.clear(3);

            awaitAllocatable(8);
            await().atMost(TIMEOUT).until(() -> count(EventType.FAULT_CLEARED) == 1);
        }
    }

    @Test
    void killsLoseNoEventAndReuseNoSequence() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_TELEMETRY_INTERVAL", "100ms"))) {
            // Given a daemon that is killed repeatedly while faults occur
            for (int round = 0; round < 4; round++) {
                int expected = round + 1;
                await().atMost(TIMEOUT).until(() -> kubelet.registrations(GPUS) == expected && allocatable() > 0);
                for (int gpu = 0; gpu < 6; gpu++) {
                    daemon.fault(gpu, 31);
                }
                await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("fault=\"xid-31\"} 6"));
                daemon.kill();
                if (round < 3) {
                    for (int gpu = 0; gpu < 6; gpu++) {
                        daemon.clear(gpu);
                    }
                    daemon.restart();
                }
            }

            // When the last start has sent all remaining events
            daemon.restart();
            await().atMost(TIMEOUT).until(() -> kubelet.registrations(GPUS) == 5);
            await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("gpufleet_daemon_broker_connected 1"));
            await().atMost(TIMEOUT).untilAsserted(() -> {
                assertThat(numbering().gaps()).isEmpty();
                assertThat(numbering().epochs()).isEqualTo(5);
            });
        }

        // Then the events of each start have no gap, and each id has one event
        assertThat(numbering().gaps()).isEmpty();
        assertThat(numbering().overtaken()).isEmpty();
        Map<String, String> jsonById = new HashMap<>();
        for (EventReader.ReadEvent read : read()) {
            String before = jsonById.putIfAbsent(read.id(), read.json());
            assertThat(before == null || before.equals(read.json())).isTrue();
        }
        assertThat(jsonById.keySet().stream().filter(id -> id.contains("/health/")))
                .hasSizeGreaterThanOrEqualTo(4 * 6);
    }

    @Test
    void allocateSucceedsWhileTheBrokerIsDownAndEveryFactArrives() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_RECOVERY_DWELL", "200ms"))) {
            awaitAllocatable(8);
            await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("gpufleet_daemon_broker_connected 1"));
            await().atMost(TIMEOUT).until(() -> count(EventType.FAULTS_OPEN) >= 1);

            // Given a broker that is down
            long before = brokerUnavailableWarnings(daemon);
            broker.kill();
            daemon.fault(0, 79);
            awaitAllocatable(7);
            daemon.fault(1, 31);

            // Then pods still get their devices
            assertThat(kubelet.allocate("team-a", "train-0", "main", GPUS, 4).deviceIds())
                    .hasSize(4);
            // The next producer is created once the previous one is closed.
            await().atMost(TIMEOUT)
                    .until(() -> daemon.page("/metrics").contains("gpufleet_daemon_broker_connects_total 2"));
            assertThat(brokerUnavailableWarnings(daemon)).isEqualTo(before + 1);

            // And every fact arrives, with an age greater than the outage
            broker.restart();
            await().atMost(TIMEOUT).until(() -> count(EventType.DEVICES_ALLOCATED) >= 1);
            await().atMost(TIMEOUT).until(() -> numbering().gaps().isEmpty());
            assertThat(numbering().overtaken()).isEmpty();
            assertThat(read())
                    .filteredOn(read -> read.event().envelope().type() == EventType.FAULT_OBSERVED)
                    .hasSizeGreaterThanOrEqualTo(2)
                    .allMatch(read -> read.event().envelope().ageMillis() >= 5_000);
            await().atMost(TIMEOUT)
                    .until(() -> read().stream()
                            .filter(read -> read.event().envelope().type() == EventType.FAULTS_OPEN)
                            .reduce((a, b) -> b)
                            .filter(read -> read.event().envelope().ageMillis() < 5_000
                                    && read.json().contains("\"xid\":79"))
                            .isPresent());
        }
    }

    /** On a slow machine the broker may also seem unreachable at the start. */
    private static long brokerUnavailableWarnings(DaemonProcess daemon) {
        return daemon.log()
                .lines()
                .filter(line -> line.contains("broker unreachable"))
                .count();
    }

    @Test
    void daemonServesDevicesWithoutAWritableDisk() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_STATE_DIR", "/proc/no-such-place"))) {
            awaitAllocatable(8);
            daemon.fault(0, 79);
            awaitAllocatable(7);

            await().atMost(TIMEOUT).until(() -> count(EventType.FAULT_OBSERVED) == 1);
            assertThat(numbering().gaps()).isEmpty();
        }
    }

    @Test
    void daemonDefersToALiveForeignPlugin() throws Exception {
        Path socket = kubelet.devicePluginDirectory().resolve("nvidia-gpu.sock");
        try (var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            foreign.bind(UnixDomainSocketAddress.of(socket));
            try (var daemon = daemon(Map.of())) {
                await().atMost(TIMEOUT).until(() -> daemon.log().contains("plugin=nvidia-gpu.sock"));

                assertThat(daemon.page("/readyz")).startsWith("200");
                await().atMost(TIMEOUT).until(() -> count(EventType.NODE_ANNOUNCED) >= 1);
                assertThat(kubelet.registrations(GPUS)).isZero();
            }
        }
    }

    @Test
    void terminatedDaemonPublishesItsDeparture() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);
            await().atMost(TIMEOUT).until(() -> count(EventType.NODE_ANNOUNCED) >= 1);

            assertThat(daemon.terminate()).isZero();
        }

        assertThat(count(EventType.NODE_DEPARTED)).isEqualTo(1);
    }

    @Test
    void doctorReportsARunningDaemonHealthy() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(8);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(daemon.page("/readyz")).startsWith("200"));

            assertThat(daemon.command("doctor", "--json"))
                    .startsWith("0 ")
                    .contains(
                            "\"healthy\" : true", "\"found\" : \"ready, at 127.0.0.1:", "8 x H100", "none serves GPUs")
                    .doesNotContain("FAIL");
        }
    }
}
