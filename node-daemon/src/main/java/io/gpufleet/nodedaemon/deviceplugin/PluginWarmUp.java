package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.ResourceHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.proto.kubelet.UnaryCalls;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the calls of a kubelet to a server of its own, so that the virtual machine has loaded and compiled that code when a
 * kubelet or the first pod comes. Its allocations are counted and published nowhere.
 */
public final class PluginWarmUp {
    private static final Logger LOG = LoggerFactory.getLogger(PluginWarmUp.class);
    private static final String RESOURCE = "warm-up";
    /** More are compiled no further in the first seconds of a process, which has other work then. */
    private static final int ROUNDS = 30;

    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Duration WATCHED = Duration.ofMillis(200);

    private final Vertx vertx;
    private final Context context;
    private final Path socket;
    private final Supplier<Moment> now;

    /** Uses a socket in a directory of the daemon, on an event loop that is not the kubelet's. */
    public PluginWarmUp(Vertx vertx, Path directory, Supplier<Moment> now) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.socket = directory.resolve("warm-up.sock");
        this.now = now;
    }

    /** Makes the calls for the devices of a handler; the number of calls that were answered. */
    public Future<Integer> run(AllocationHandler real) {
        List<OfferedDevice> devices = real.offers();
        if (devices.isEmpty()) {
            return Future.succeededFuture(0);
        }
        var handler = new AllocationHandler(real.allocator(), now, new DaemonCounters(), _ -> {});
        handler.lists(Map.of(RESOURCE, new DeviceList(1, devices)), 1);
        ResourceHandler resource = handler.resource(RESOURCE);
        var streams = new ListAndWatchStreams(
                context, ListAndWatchStreams.TEARDOWN_LIMIT, resource::list, () -> {}, () -> {});
        var calls = new UnaryCalls(vertx, context);
        return deleteSocket()
                .compose(_ -> new DevicePluginServer(vertx, resource, streams).listen(socket))
                .compose(server -> watch(calls)
                        .compose(_ -> rounds(calls, devices.getFirst().id(), 0))
                        .eventually(() -> close(server, calls)))
                .onFailure(failed -> LOG.atDebug().setCause(failed).log("the kubelet's calls could not be warmed up"));
    }

    /** A stream of lists does not end, so its deadline ends it, after the list was written. */
    private Future<?> watch(UnaryCalls calls) {
        return calls.call(socket, DevicePluginGrpcClient.ListAndWatch, Empty.getDefaultInstance(), WATCHED)
                .otherwiseEmpty();
    }

    private Future<Integer> rounds(UnaryCalls calls, String id, int answered) {
        if (answered >= 3 * ROUNDS) {
            return Future.succeededFuture(answered);
        }
        var allocate = AllocateRequest.newBuilder()
                .addContainerRequests(ContainerAllocateRequest.newBuilder().addDevicesIds(id))
                .build();
        var preferred = PreferredAllocationRequest.newBuilder()
                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                        .addAvailableDeviceIDs(id)
                        .setAllocationSize(1))
                .build();
        return calls.call(socket, DevicePluginGrpcClient.GetDevicePluginOptions, Empty.getDefaultInstance(), DEADLINE)
                .compose(_ -> calls.call(socket, DevicePluginGrpcClient.GetPreferredAllocation, preferred, DEADLINE))
                // A device that is Unhealthy is refused, which is an answer, too.
                .compose(_ -> calls.call(socket, DevicePluginGrpcClient.Allocate, allocate, DEADLINE)
                        .otherwiseEmpty())
                .compose(_ -> rounds(calls, id, answered + 3));
    }

    private Future<@Nullable Boolean> close(HttpServer server, UnaryCalls calls) {
        calls.close();
        return server.close().compose(_ -> deleteSocket());
    }

    private Future<@Nullable Boolean> deleteSocket() {
        return vertx.executeBlocking(() -> Files.deleteIfExists(socket));
    }
}
