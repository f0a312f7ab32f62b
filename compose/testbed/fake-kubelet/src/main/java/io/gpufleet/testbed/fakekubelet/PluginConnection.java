package io.gpufleet.testbed.fakekubelet;

import com.google.protobuf.Message;
import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.gpufleet.proto.kubelet.deviceplugin.Device;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.NUMANode;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientResponse;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.common.ServiceMethod;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The kubelet's connection to one registered plugin. It connects once and never reconnects. */
final class PluginConnection {
    private final Context context;
    private final GrpcClient client;
    private final SocketAddress address;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Promise<Void> closed = Promise.promise();
    private volatile DevicePluginOptions options = DevicePluginOptions.getDefaultInstance();

    PluginConnection(Vertx vertx, Path socket) {
        this.context = vertx.getOrCreateContext();
        this.client = UnixSocketGrpc.client(vertx, UnixSocketGrpc.AUTHORITY);
        this.address = SocketAddress.domainSocketAddress(socket.toString());
    }

    /** Connects and gets the options, both before Register is answered, as the kubelet does. */
    Future<DevicePluginOptions> connect() {
        return call(DevicePluginGrpcClient.GetDevicePluginOptions, Empty.getDefaultInstance())
                .onSuccess(answer -> options = answer);
    }

    /** The options of the plugin. */
    DevicePluginOptions options() {
        return options;
    }

    /** Follows the list; {@code atEnd} is called exactly once, also when the stream cannot be opened. */
    void watch(Consumer<List<AdvertisedResource.Device>> onList, Runnable atEnd) {
        Runnable once = () -> {
            if (ended.compareAndSet(false, true)) {
                atEnd.run();
            }
        };
        context.runOnContext(_ -> client.request(address, DevicePluginGrpcClient.ListAndWatch)
                .compose(request -> request.send(Empty.getDefaultInstance()))
                .onFailure(failure -> once.run())
                .onSuccess(response -> response.handler(list -> onList.accept(devices(list)))
                        .exceptionHandler(failure -> once.run())
                        .endHandler(end -> once.run())));
    }

    /** One call without a deadline, as the kubelet makes them; a failure has the plugin's message. */
    <Q extends Message, A extends Message> Future<A> call(ServiceMethod<A, Q> method, Q question) {
        // On an event loop from the first step: on another thread a response may arrive before its handler is
        // attached.
        Promise<A> promise = Promise.promise();
        context.runOnContext(_ -> client.request(address, method)
                .compose(request -> request.send(question))
                .compose(PluginConnection::<Q, A>answer)
                .onComplete(promise));
        return promise.future();
    }

    /** Closes the connection; every caller gets the same future, also when two threads close at once. */
    Future<Void> close() {
        // Vert.x 5.0.7 returns null to a thread that closes a client while another thread closes it.
        if (closing.compareAndSet(false, true)) {
            client.close().onComplete(closed);
        }
        return closed.future();
    }

    private static <Q, A> Future<A> answer(GrpcClientResponse<Q, A> response) {
        Promise<A> promise = Promise.promise();
        response.handler(promise::tryComplete)
                .exceptionHandler(promise::tryFail)
                .endHandler(end -> promise.tryFail(
                        "rpc error: code = " + codeName(response.status()) + " desc = " + response.statusMessage()));
        return promise.future();
    }

    /** The form of gRPC's Go client, which operators know. */
    private static String codeName(GrpcStatus status) {
        var name = new StringBuilder();
        for (String word : status.name().split("_", -1)) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(java.util.Locale.ROOT));
        }
        return name.toString();
    }

    private static List<AdvertisedResource.Device> devices(ListAndWatchResponse list) {
        return list.getDevicesList().stream().map(PluginConnection::device).toList();
    }

    private static AdvertisedResource.Device device(Device device) {
        return new AdvertisedResource.Device(
                device.getID(),
                device.getHealth().equals("Healthy"),
                device.getTopology().getNodesList().stream()
                        .map(NUMANode::getID)
                        .toList());
    }
}
