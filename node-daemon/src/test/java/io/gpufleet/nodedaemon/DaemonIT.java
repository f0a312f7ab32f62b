package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.nvml.FakeNvml;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.allocation.v1.UnallocatedUse;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.testbed.fakekubelet.DeviceAllocation;
import io.gpufleet.testbed.fakekubelet.PodKey;
import io.gpufleet.testbed.testkit.SharedBroker;
import io.gpufleet.testbed.testkit.contract.PublishedRecords;
import io.gpufleet.wire.EventType;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** A daemon process with a kubelet and a real broker. */
class DaemonIT {
    private static final Duration TIMEOUT = DaemonTestNode.TIMEOUT;

    @TempDir
    Path directory;

    private DaemonTestNode node;

    @AfterAll
    static void publishedRecordsFitTheContract() {
        assertThat(PublishedRecords.of(SharedBroker.get().bootstrap()).check())
                .containsKeys("node.announced.v1", "fault.observed.v1", "devices.allocated.v1", "telemetry.sampled.v1");
    }

    @BeforeEach
    void startKubelet(TestInfo test) throws IOException {
        node = new DaemonTestNode(test.getDisplayName(), directory);
    }

    @AfterEach
    void stopKubelet() {
        node.close();
    }

    @Test
    void podGetsItsGpusAndAllocationIsPublished() throws Exception {
        try (var daemon = node.daemon(Map.of())) {
            node.awaitAllocatable(8);

            DeviceAllocation allocation = node.kubelet().allocate("team-a", "train-0", "main", DaemonTestNode.GPUS, 2);

            assertThat(allocation.response().getEnvsMap())
                    .containsOnlyKeys("NVIDIA_VISIBLE_DEVICES")
                    .hasEntrySatisfying(
                            "NVIDIA_VISIBLE_DEVICES",
                            value -> assertThat(value.split(","))
                                    .containsExactlyInAnyOrderElementsOf(allocation.deviceIds()));
            await().atMost(TIMEOUT).until(() -> node.holders().contains("team-a/train-0/main"));
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(node.read())
                            .extracting(read -> read.event().envelope().type())
                            .contains(
                                    EventType.NODE_ANNOUNCED,
                                    EventType.FAULTS_OPEN,
                                    EventType.DEVICES_ALLOCATED,
                                    EventType.DEVICES_HELD,
                                    EventType.TELEMETRY_SAMPLED));
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
                var daemon = node.daemon(Map.of(
                        "GPUFLEET_DEVICES",
                        "nvml",
                        "GPUFLEET_NVML_LIBRARY",
                        nvml.library().toString(),
                        "GPUFLEET_PROC_DIR",
                        directory.resolve("proc").toString(),
                        "GPUFLEET_TELEMETRY_INTERVAL",
                        "500ms"))) {
            node.awaitAllocatable(2);
            var pod = new PodKey("team-a", "train-0", "11111111-2222-3333-4444-555555555555");
            String held = node.kubelet()
                    .allocate(pod, "main", DaemonTestNode.GPUS, 1)
                    .deviceIds()
                    .getFirst();
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
        return node.read().stream()
                .filter(read -> read.event().payload() instanceof DevicesHeld)
                .map(read -> ((DevicesHeld) read.event().payload()).getUnallocatedList())
                .reduce(List.of(), (_, later) -> later);
    }

    @Test
    void fatalFaultWithdrawsTheDeviceAndNamesItsHolders() throws Exception {
        try (var daemon = node.daemon(Map.of("GPUFLEET_RECOVERY_DWELL", "500ms"))) {
            node.awaitAllocatable(8);
            node.kubelet().allocate("team-a", "train-0", "main", DaemonTestNode.GPUS, 8);
            await().atMost(TIMEOUT).until(() -> node.holders().contains("team-a/train-0/main"));

            daemon.fault(3, 79);

            node.awaitAllocatable(7);
            await().atMost(TIMEOUT).until(() -> node.count(EventType.FAULT_OBSERVED) == 1);
            assertThat(node.read())
                    .filteredOn(read -> read.event().payload() instanceof FaultObserved)
                    .singleElement()
                    .satisfies(read -> assertThat(read.json()).contains("\"pod\":\"train-0\"", "\"xid\":79"));

            daemon.clear(3);

            node.awaitAllocatable(8);
            await().atMost(TIMEOUT).until(() -> node.count(EventType.FAULT_CLEARED) == 1);
        }
    }

    @Test
    void daemonDefersToALiveForeignPlugin() throws Exception {
        Path socket = node.kubelet().devicePluginDirectory().resolve("nvidia-gpu.sock");
        try (var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            foreign.bind(UnixDomainSocketAddress.of(socket));
            try (var daemon = node.daemon(Map.of())) {
                await().atMost(TIMEOUT).until(() -> daemon.log().contains("plugin=nvidia-gpu.sock"));

                // HTTP opens after the first list, or a while later where no kubelet asks for one.
                await().atMost(TIMEOUT).until(() -> daemon.page("/readyz").startsWith("200"));
                await().atMost(TIMEOUT).until(() -> node.count(EventType.NODE_ANNOUNCED) >= 1);
                assertThat(node.kubelet().registrations(DaemonTestNode.GPUS)).isZero();
            }
        }
    }

    @Test
    void terminatedDaemonPublishesItsDeparture() throws Exception {
        try (var daemon = node.daemon(Map.of())) {
            node.awaitAllocatable(8);
            await().atMost(TIMEOUT).until(() -> node.count(EventType.NODE_ANNOUNCED) >= 1);

            assertThat(daemon.terminate()).isZero();

            // By the next start where the broker took longer than a daemon that ends waits for it.
            daemon.restart();
            await().atMost(TIMEOUT).until(() -> node.count(EventType.NODE_DEPARTED) == 1);
        }
    }

    @Test
    void doctorReportsARunningDaemonHealthy() throws Exception {
        try (var daemon = node.daemon(Map.of())) {
            node.awaitAllocatable(8);
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(daemon.page("/readyz")).startsWith("200"));

            // Nothing precedes the JSON
            assertThat(daemon.command("doctor", "--json"))
                    .startsWith("0 {")
                    .contains(
                            "\"healthy\" : true", "\"found\" : \"ready, at 127.0.0.1:", "8 x H100", "none serves GPUs")
                    .doesNotContain("FAIL");
        }
    }
}
