package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.InvalidStatusException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The device plugin API over a real unix socket. */
class DevicePluginServerIT {
    private final EventLoop loop = EventLoops.open("kubelet");
    /** Another implementation of HTTP/2 and gRPC than the daemon's. */
    private final Vertx vertx = Vertx.vertx();

    private final HttpClient http = vertx.createHttpClient(
            new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
    private final AtomicReference<DeviceList> list = new AtomicReference<>(list(1, true));
    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private AllocationHandler allocationHandler;
    private ListAndWatchStreams streams;
    private GrpcClient grpc;
    private SocketAddress address;

    private static DeviceList list(long version, boolean secondHealthy) {
        return new DeviceList(
                version, List.of(TestGpus.offer(0, true, ""), TestGpus.offer(5, secondHealthy, "xid-79")));
    }

    @BeforeEach
    void serve() throws Exception {
        serve(Duration.ofMinutes(1));
    }

    private void serve(Duration teardownLimit) throws Exception {
        Path socket = SocketDirectory.create().resolve("plugin.sock");
        address = SocketAddress.domainSocketAddress(socket.toString());
        streams = new ListAndWatchStreams(
                loop, teardownLimit, list::get, opened::incrementAndGet, ended::incrementAndGet);
        allocationHandler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> TestGpus.second(0),
                new DaemonCounters(),
                _ -> {});
        new DevicePluginServer(loop, allocationHandler.resource(ResourcePlan.GPU), streams)
                .listen(socket)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        grpc = GrpcClient.client(vertx);
    }

    @AfterEach
    void stop() throws Exception {
        get(() -> vertx.close());
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }

    /** Runs on an event loop from the start: a response that arrives before its handler is attached is lost. */
    private <T> T get(Supplier<Future<T>> act) throws Exception {
        var got = new CompletableFuture<T>();
        vertx.runOnContext(_ -> act.get().onSuccess(got::complete).onFailure(got::completeExceptionally));
        return got.get(20, TimeUnit.SECONDS);
    }

    private DevicePluginGrpcClient client() {
        return DevicePluginGrpcClient.create(grpc, address);
    }

    private BlockingQueue<ListAndWatchResponse> watch(GrpcClient client) throws Exception {
        var seen = new LinkedBlockingQueue<ListAndWatchResponse>();
        get(() -> client.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                // On the stream's own thread, or a message could arrive before the handler is attached.
                .map(response -> response.handler(seen::add)));
        return seen;
    }

    private void publish() {
        loop.execute(streams::publish);
    }

    private static List<String> healths(ListAndWatchResponse response) {
        var healths = new ArrayList<String>();
        response.getDevicesList().forEach(device -> healths.add(device.getID() + " " + device.getHealth()));
        return healths;
    }

    @Test
    void fourStreamsGetTheListAtOnceAndEveryChangeOnce() throws Exception {
        // Given two kubelets with two streams each
        var other = GrpcClient.client(vertx);
        var all = List.of(watch(grpc), watch(grpc), watch(other), watch(other));

        // When the device fails and recovers, and each list is published twice
        for (int version = 2; version <= 5; version++) {
            int seen = version - 1;
            await().until(() -> all.stream().allMatch(stream -> stream.size() == seen));
            list.set(list(version, version % 2 == 1));
            publish();
            publish();
        }

        // Then each stream has each list once, in order
        await().until(() -> all.stream().allMatch(stream -> stream.size() >= 5));
        for (var stream : all) {
            assertThat(stream)
                    .extracting(seen -> healths(seen).getLast())
                    .containsExactly(
                            TestGpus.uuid(5) + " Healthy",
                            TestGpus.uuid(5) + " Unhealthy",
                            TestGpus.uuid(5) + " Healthy",
                            TestGpus.uuid(5) + " Unhealthy",
                            TestGpus.uuid(5) + " Healthy");
        }
    }

    @Test
    void outdatedListIsSkipped() throws Exception {
        var stream = watch(grpc);
        await().until(() -> stream.size() == 1);

        // A stream that has the newest list gets no older one
        list.set(list(3, false));
        list.set(list(4, true));
        publish();
        list.set(list(3, false));
        publish();
        list.set(list(5, false));
        publish();

        await().until(() -> stream.stream().anyMatch(seen -> healths(seen).contains(TestGpus.uuid(5) + " Unhealthy")));
        assertThat(stream).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void streamOfAClientThatDoesNotReadGetsTheNewestListLaterAndOthersGetEach() throws Exception {
        // Given a debugger that is stopped, with a receive window of 64 KiB
        int lists = 2_000;
        var seen = new LinkedBlockingQueue<ListAndWatchResponse>();
        var debugger = GrpcClient.client(vertx);
        var stopped = get(() -> debugger.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                .map(response -> response.pause().handler(seen::add)));
        var kubelet = watch(grpc);

        // When lists of 300 KB in all are published
        for (int version = 2; version <= lists; version++) {
            list.set(list(version, version % 2 == 1));
            publish();
        }

        // Then
        await().until(() -> healths(kubelet.stream().reduce((_, later) -> later).orElseThrow())
                .contains(TestGpus.uuid(5) + " Unhealthy"));
        vertx.runOnContext(_ -> stopped.resume());
        list.set(new DeviceList(lists + 1, List.of(TestGpus.offer(7, true, ""))));
        publish();
        await().until(() -> seen.stream().anyMatch(each -> each.getDevicesCount() == 1));
        assertThat(seen).hasSizeLessThan(lists / 2);
    }

    @Test
    void listHasTheNumaNodeOfADevice() throws Exception {
        ListAndWatchResponse seen = watch(grpc).poll(20, TimeUnit.SECONDS);

        assertThat(seen).isNotNull();
        assertThat(seen.getDevices(1).getTopology().getNodes(0).getID()).isEqualTo(1);
    }

    @Test
    void streamOfAClosedConnectionIsRemoved() throws Exception {
        var other = GrpcClient.client(vertx);
        watch(other);
        await().until(() -> streams.count() == 1);

        get(() -> other.close());

        await().until(() -> streams.count() == 0);
        assertThat(ended).hasValue(1);
        assertThat(opened).hasValue(1);
    }

    @Test
    void endedStreamsEndAtTheKubelet() throws Exception {
        var over = new CountDownLatch(1);
        get(() -> grpc.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                .map(response -> response.handler(_ -> {}).endHandler(_ -> over.countDown())));
        await().until(() -> streams.count() == 1);

        loop.execute(streams::endAll);

        assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void endedStreamCountsAsOpenUntilItsConnectionCloses() throws Exception {
        var kubelet = GrpcClient.client(vertx);
        var over = new CountDownLatch(1);
        get(() -> kubelet.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                .map(response -> response.handler(_ -> {}).endHandler(_ -> over.countDown())));
        await().until(() -> streams.count() == 1);
        loop.execute(streams::endAll);
        assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();

        // The kubelet tears down the plugin meanwhile
        assertThat(streams.count()).isEqualTo(1);
        assertThat(ended).hasValue(0);

        get(kubelet::close);
        await().until(() -> streams.count() == 0);
        assertThat(ended).hasValue(1);
    }

    @Test
    void endedStreamOfAnOpenConnectionCountsAsClosedAfterTheLimit() throws Exception {
        serve(Duration.ofMillis(100));
        watch(grpc);
        await().until(() -> streams.count() == 1);

        loop.execute(streams::endAll);

        await().until(() -> streams.count() == 0);
        assertThat(ended).hasValue(1);
    }

    @Test
    void rejectionIsAStatusWithTheDevice() {
        var request = AllocateRequest.newBuilder()
                .addContainerRequests(ContainerAllocateRequest.newBuilder().addDevicesIds("GPU-x"))
                .build();

        assertThatThrownBy(() -> get(() -> client().allocate(request)))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(InvalidStatusException.class)
                .hasMessageContaining("INVALID_ARGUMENT");
    }

    @Test
    void containerWithAnUnknownDeviceDoesNotStart() {
        var request =
                PreStartContainerRequest.newBuilder().addDevicesIds("GPU-x").build();

        assertThatThrownBy(() -> get(() -> client().preStartContainer(request)))
                .cause()
                .isInstanceOf(InvalidStatusException.class);
    }

    @Test
    void kubeletCallsPreStartContainerOnlyIfRequired() throws Exception {
        // Given
        AllocateSettings standard = AllocateSettings.DEFAULT;
        var asking = new AllocateSettings(
                standard.strategies(),
                standard.deviceIdStrategy(),
                false,
                Set.of(),
                standard.imex(),
                standard.cdiAnnotationPrefix(),
                new AllocateSettings.Driver("/", false),
                true);
        allocationHandler.lists(Map.of(ResourcePlan.GPU, list(1, false)), 1);

        // When
        allocationHandler.allocator(
                new AllocationTableFactory(PluginSettings.DEFAULT.with(asking), HostDeviceNodes.NONE));

        // Then
        assertThat(get(() -> client().getDevicePluginOptions(Empty.getDefaultInstance()))
                        .getPreStartRequired())
                .isTrue();
        assertThat(get(() -> client().preStartContainer(starting(0)))).isNotNull();
        assertThatThrownBy(() -> get(() -> client().preStartContainer(starting(5))))
                .cause()
                .hasMessageContaining("FAILED_PRECONDITION");
    }

    private static PreStartContainerRequest starting(int gpu) {
        return PreStartContainerRequest.newBuilder()
                .addDevicesIds(TestGpus.uuid(gpu))
                .build();
    }

    @Test
    void optionsRequestGetPreferredAllocationOnly() throws Exception {
        var options = get(() -> client().getDevicePluginOptions(Empty.getDefaultInstance()));

        assertThat(options.getPreStartRequired()).isFalse();
        assertThat(options.getGetPreferredAllocationAvailable()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "%2Fvar%2Flib%2Fkubelet%2Fdevice-plugins%2Fx.sock",
                "x.sock",
                "_",
                "%zz",
                "[",
                "a:b:c",
                "h:99999"
            })
    void unusualAuthoritiesAreAccepted(String authority) throws Exception {
        assertAnswered(request -> request.authority(HostAndPort.create(authority, -1)));
    }

    @Test
    void missingAuthorityIsAccepted() throws Exception {
        assertAnswered(_ -> {});
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "%2Fvar%2Flib%2Fx.sock", "%zz", "[", ""})
    void hostInPlaceOfTheAuthorityIsAccepted(String host) throws Exception {
        assertAnswered(request -> request.putHeader("host", host));
    }

    private void assertAnswered(Consumer<HttpClientRequest> headers) throws Exception {
        var response = get(() -> http.request(new RequestOptions()
                        .setServer(address)
                        .setMethod(HttpMethod.POST)
                        .setURI("/v1beta1.DevicePlugin/GetDevicePluginOptions"))
                .compose(request -> {
                    headers.accept(request);
                    request.putHeader("content-type", "application/grpc").putHeader("te", "trailers");
                    return request.send(Buffer.buffer(new byte[] {0, 0, 0, 0, 0}));
                })
                .compose(answer -> answer.body().map(answer)));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.getTrailer("grpc-status")).isEqualTo("0");
    }
}
