package io.gpufleet.nodedaemon.deviceplugin;

import com.google.protobuf.MessageLite;
import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.ResourceHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.proto.kubelet.GrpcMethod;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the calls of a kubelet to a server of its own, so that the virtual machine has loaded and compiled that code when a
 * kubelet or the first pod comes. Its allocations are counted and published nowhere.
 */
public final class PluginWarmUp {
    /** Code is compiled after 256 calls: of lists, of which a round has two, and of all that several calls share. */
    static final int ROUNDS = 140;

    private static final Logger LOG = LoggerFactory.getLogger(PluginWarmUp.class);
    private static final String RESOURCE = "warm-up";
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Duration TEARDOWN_LIMIT = Duration.ofMillis(100);

    private final EventLoop loop;
    private final UnixGrpcClient calls;
    private final Path socket;
    private final Supplier<Moment> now;

    /** Uses a socket in a directory of the daemon, on an event loop that is not the kubelet's. */
    public PluginWarmUp(EventLoop loop, Path directory, Supplier<Moment> now) {
        this.loop = loop;
        this.calls = new UnixGrpcClient(loop);
        this.socket = directory.resolve("warm-up.sock");
        this.now = now;
    }

    /** The calls of a round, about one device. */
    private record RoundRequests(AllocateRequest allocate, PreferredAllocationRequest preferred) {
        private static RoundRequests of(String id) {
            return new RoundRequests(
                    AllocateRequest.newBuilder()
                            .addContainerRequests(
                                    ContainerAllocateRequest.newBuilder().addDevicesIds(id))
                            .build(),
                    PreferredAllocationRequest.newBuilder()
                            .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                    .addAvailableDeviceIDs(id)
                                    .setAllocationSize(1))
                            .build());
        }
    }

    /** Makes the calls for the devices of a handler; the number of rounds whose calls were answered. */
    public CompletionStage<Integer> run(AllocationHandler real) {
        List<OfferedDevice> devices = real.offers();
        if (devices.isEmpty()) {
            return CompletableFuture.completedFuture(0);
        }
        var handler = new AllocationHandler(real.allocator(), now, new DaemonCounters(), _ -> {});
        handler.lists(Map.of(RESOURCE, new DeviceList(1, devices)), 1);
        RoundRequests requests = RoundRequests.of(devices.getFirst().id());
        return CompletableFuture.runAsync(this::deleteSocket, loop)
                .thenCompose(_ -> serve(handler.resource(RESOURCE)))
                .thenCompose(served -> rounds(requests, 0).thenCompose(answered -> close(served, answered)))
                .whenComplete((_, failed) -> {
                    if (failed != null) {
                        LOG.atDebug().setCause(failed).log("the kubelet's calls could not be warmed up");
                    }
                });
    }

    /** Each stream gets its first list, then one like that of a fault, and ends. */
    private CompletionStage<ServedSocket> serve(ResourceHandler resource) {
        var streams = new ListAndWatchStreams[1];
        streams[0] = new ListAndWatchStreams(
                loop,
                TEARDOWN_LIMIT,
                resource::list,
                () -> loop.execute(() -> {
                    resource.list(new DeviceList(
                            resource.list().version() + 1, resource.list().devices()));
                    streams[0].publish();
                    streams[0].endAll();
                }),
                () -> {});
        return new DevicePluginServer(loop, resource, streams[0]).listen(socket);
    }

    /** One round after the other, each a task of its own, so that the loop's other work is not held up. */
    private CompletionStage<Integer> rounds(RoundRequests requests, int done) {
        var result = new CompletableFuture<Integer>();
        round(requests, done, result);
        return result;
    }

    private void round(RoundRequests requests, int done, CompletableFuture<Integer> result) {
        if (done == ROUNDS) {
            result.complete(done);
            return;
        }
        call(KubeletMethods.LIST_AND_WATCH, Empty.getDefaultInstance())
                .thenCompose(_ -> call(KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance()))
                .thenCompose(_ -> call(KubeletMethods.GET_PREFERRED_ALLOCATION, requests.preferred()))
                // A device that is Unhealthy is refused, which is an answer, too.
                .thenCompose(
                        _ -> call(KubeletMethods.ALLOCATE, requests.allocate()).handle((response, _) -> done))
                .whenComplete((_, failed) -> {
                    if (failed == null) {
                        loop.execute(() -> round(requests, done + 1, result));
                    } else {
                        result.complete(done);
                    }
                });
    }

    private <Q extends MessageLite, A> CompletionStage<A> call(GrpcMethod<Q, A> method, Q request) {
        return calls.call(socket, method, request, DEADLINE);
    }

    private CompletionStage<Integer> close(ServedSocket served, int answered) {
        return served.close().thenApply(_ -> {
            deleteSocket();
            return answered;
        });
    }

    private void deleteSocket() {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
