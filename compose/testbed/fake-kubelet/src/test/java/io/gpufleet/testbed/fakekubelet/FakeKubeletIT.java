package io.gpufleet.testbed.fakekubelet;

import static io.gpufleet.testbed.fakekubelet.TestDevicePlugin.RESOURCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.gpufleet.proto.kubelet.podresources.AllocatableResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerGrpcClient;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.InvalidStatusException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FakeKubeletIT {
    @TempDir
    Path directory;

    private Vertx vertx;
    private FakeKubelet kubelet;
    private TestDevicePlugin plugin;

    @BeforeEach
    void kubeletAndPlugin() throws IOException {
        vertx = Vertx.vertx();
        kubelet = FakeKubelet.start(vertx, directory);
        plugin = new TestDevicePlugin(vertx, kubelet.devicePluginDirectory(), "a", "b", "c");
    }

    @AfterEach
    void end() throws IOException {
        kubelet.close();
        plugin.close();
        UnixSocketServer.await(vertx.close());
    }

    @Test
    void registeredPluginTurnsIntoCapacity() throws IOException {
        // When
        plugin.register();
        // Then
        awaitAllocatable(3);
        assertThat(kubelet.registrations(RESOURCE)).isEqualTo(1);
    }

    @Test
    void unhealthyDeviceLowersAllocatableAndKeepsCapacity() throws IOException {
        // Given
        plugin.register();
        awaitAllocatable(3);
        // When
        plugin.setHealth("b", "Unhealthy");
        // Then
        awaitAllocatable(2);
        assertThat(kubelet.resource(RESOURCE).orElseThrow().capacity()).isEqualTo(3);
    }

    @Test
    void pluginThatDoesNotServeYetIsRefused() {
        assertThatThrownBy(() -> plugin.register(RESOURCE, "v1beta1", "nobody.sock"))
                .isInstanceOf(IOException.class);
        assertThat(kubelet.resource(RESOURCE)).isEmpty();
    }

    @Test
    void anotherVersionAndAnIllegalNameAreRefused() {
        assertThatThrownBy(() -> plugin.register(RESOURCE, "v2", "small.sock")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> plugin.register("gpu", "v1beta1", "small.sock"))
                .isInstanceOf(IOException.class);
        assertThat(kubelet.resources()).isEmpty();
    }

    @Test
    void preferredDevicesAreAllocatedAndListed() throws Exception {
        // Given
        plugin.register();
        awaitAllocatable(3);
        // When
        DeviceAllocation allocation = kubelet.allocate("ns", "pod", "main", RESOURCE, 2);
        // Then
        assertThat(allocation.deviceIds()).containsExactly("b", "c");
        assertThat(allocation.response().getEnvsMap()).containsEntry("NVIDIA_VISIBLE_DEVICES", "b,c");
        assertThat(listedIds()).containsExactly("b", "c");
        JsonObject entry = checkpoint().getJsonArray("PodDeviceEntries").getJsonObject(0);
        assertThat(entry.getString("PodUID")).isEqualTo("ns-pod");
        assertThat(entry.getJsonObject("DeviceIDs").getJsonArray("-1").getList())
                .isEqualTo(List.of("b", "c"));
        assertThat(checkpoint()
                        .getJsonObject("RegisteredDevices")
                        .getJsonArray(RESOURCE)
                        .getList())
                .isEqualTo(List.of("a", "b", "c"));
    }

    @Test
    void requestBeyondAvailableDevicesFailsWithMessageOfKubelet() throws Exception {
        // Given
        plugin.register();
        awaitAllocatable(3);
        kubelet.allocate("ns", "first", "main", RESOURCE, 2);
        // When Then
        assertThatThrownBy(() -> kubelet.allocate("ns", "second", "main", RESOURCE, 2))
                .isInstanceOf(AdmissionException.class)
                .hasMessage("Allocate failed due to requested number of devices unavailable for nvidia.com/gpu."
                        + " Requested: 2, Available: 1, which is unexpected");
    }

    @Test
    void releasedDevicesAreFreeAgain() throws Exception {
        // Given
        plugin.register();
        awaitAllocatable(3);
        kubelet.allocate("ns", "first", "main", RESOURCE, 3);
        // When
        kubelet.release("ns", "first");
        // Then
        assertThat(kubelet.allocate("ns", "second", "main", RESOURCE, 3).deviceIds())
                .hasSize(3);
    }

    @Test
    void errorOfPluginIsPassedThrough() throws Exception {
        // Given
        plugin.register();
        awaitAllocatable(3);
        plugin.rejectAllocations();
        // When Then
        assertThatThrownBy(() -> kubelet.allocate("ns", "pod", "main", RESOURCE, 1))
                .hasMessageContaining("rpc error: code = FailedPrecondition desc = the driver is away");
        assertThat(kubelet.allocations()).isEmpty();
    }

    @Test
    void disconnectedPluginLeavesItsDevicesUnhealthy() throws IOException {
        // Given
        plugin.register();
        awaitAllocatable(3);
        // When
        plugin.close();
        // Then
        awaitAllocatable(0);
        assertThat(kubelet.resource(RESOURCE).orElseThrow().capacity()).isEqualTo(3);
    }

    @Test
    void restartDeletesEverySocketAndKeepsAllocations() throws Exception {
        // Given
        plugin.register();
        awaitAllocatable(3);
        kubelet.allocate("ns", "pod", "main", RESOURCE, 1);
        // When
        kubelet.restart();
        // Then
        assertThat(kubelet.devicePluginDirectory().resolve("small.sock")).doesNotExist();
        assertThat(kubelet.devicePluginDirectory().resolve("kubelet.sock")).exists();
        assertThat(kubelet.resource(RESOURCE).orElseThrow().capacity()).isZero();
        assertThat(listedIds()).containsExactly("c");
    }

    @Test
    void anotherKubeletProcessAdoptsAllocationsOfPod() throws Exception {
        // Given
        plugin.register();
        awaitAllocatable(3);
        kubelet.allocate("ns", "pod", "main", RESOURCE, 1);
        kubelet.close();
        // When
        kubelet = FakeKubelet.start(vertx, directory);
        kubelet.adopt(new PodKey("ns", "pod", "ns-pod"));
        // Then
        assertThat(kubelet.allocations()).hasSize(1);
        assertThat(kubelet.allocations().getFirst().deviceIds()).containsExactly("c");
    }

    @Test
    void onlyHealthyDevicesAreAllocatable() throws IOException {
        // Given
        plugin.register();
        awaitAllocatable(3);
        plugin.setHealth("a", "Unhealthy");
        awaitAllocatable(2);
        // When
        var answer = UnixSocketServer.await(
                podResources().getAllocatableResources(AllocatableResourcesRequest.getDefaultInstance()));
        // Then
        assertThat(answer.getDevicesList().stream().map(device -> device.getDeviceIds(0)))
                .containsExactly("b", "c");
    }

    @Test
    void callWithoutAuthorityIsRefused() {
        var sendsNone = PodResourcesListerGrpcClient.create(
                GrpcClient.client(vertx),
                SocketAddress.domainSocketAddress(kubelet.podResourcesSocket().toString()));

        assertThatThrownBy(() -> UnixSocketServer.await(sendsNone.list(ListPodResourcesRequest.getDefaultInstance())))
                .hasRootCauseInstanceOf(InvalidStatusException.class)
                .hasMessageContaining("INTERNAL");
    }

    private void awaitAllocatable(int count) {
        await().until(() -> kubelet.resource(RESOURCE)
                .map(AdvertisedResource::allocatable)
                .filter(allocatable -> allocatable == count)
                .isPresent());
    }

    private List<String> listedIds() throws IOException {
        return UnixSocketServer.await(podResources().list(ListPodResourcesRequest.getDefaultInstance()))
                .getPodResourcesList()
                .stream()
                .flatMap(pod -> pod.getContainersList().stream())
                .flatMap(container -> container.getDevicesList().stream())
                .flatMap(devices -> devices.getDeviceIdsList().stream())
                .toList();
    }

    private PodResourcesListerGrpcClient podResources() {
        return PodResourcesListerGrpcClient.create(
                UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY),
                SocketAddress.domainSocketAddress(kubelet.podResourcesSocket().toString()));
    }

    private JsonObject checkpoint() throws IOException {
        return new JsonObject(Files.readString(kubelet.devicePluginDirectory().resolve("kubelet_internal_checkpoint")))
                .getJsonObject("Data");
    }
}
