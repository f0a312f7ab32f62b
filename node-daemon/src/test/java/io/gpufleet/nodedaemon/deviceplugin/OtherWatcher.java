package io.gpufleet.nodedaemon.deviceplugin;

import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.client.GrpcClientRequest;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** A client of a plugin that is no kubelet: a debugger, a second monitor. It is connected before it watches. */
final class OtherWatcher implements AutoCloseable {
    private static final long DEADLINE_MILLIS = 200;

    private final Context context;
    private final GrpcClient client;
    private final SocketAddress address;
    private final Queue<ListAndWatchResponse> lists = new ConcurrentLinkedQueue<>();

    /** How a watcher ends. */
    enum End {
        /** It resets the stream. */
        CANCEL,
        /** The deadline of its call passes. */
        DEADLINE,
        /** Its connection closes without a word. */
        VANISH
    }

    private OtherWatcher(Vertx vertx, Path socket) {
        this.context = vertx.getOrCreateContext();
        this.client = GrpcClient.client(vertx, new GrpcClientOptions().setScheduleDeadlineAutomatically(true));
        this.address = SocketAddress.domainSocketAddress(socket.toString());
    }

    static OtherWatcher connect(Vertx vertx, Path socket) {
        var watcher = new OtherWatcher(vertx, socket);
        Promise<Object> connected = Promise.promise();
        watcher.context.runOnContext(_ -> watcher.client
                .request(watcher.address, DevicePluginGrpcClient.GetDevicePluginOptions)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                .compose(response -> response.last())
                .<Object>map(options -> options)
                .onComplete(connected));
        connected.future().await();
        return watcher;
    }

    /** Watches without an end of its own. */
    void watch() {
        var _ = opened(End.CANCEL);
    }

    private GrpcClientRequest<?, ?> opened(End end) {
        Promise<GrpcClientRequest<?, ?>> opened = Promise.promise();
        context.runOnContext(_ -> open(end).onComplete(opened));
        GrpcClientRequest<?, ?> call = opened.future().await();
        await().until(() -> !lists.isEmpty());
        return call;
    }

    /** Watches until it has the list, then ends. */
    void watchAndEnd(End end) {
        GrpcClientRequest<?, ?> call = opened(end);
        switch (end) {
            case CANCEL -> call.cancel();
            case DEADLINE -> {}
            case VANISH -> close();
        }
    }

    private Future<GrpcClientRequest<?, ?>> open(End end) {
        return client.request(address, DevicePluginGrpcClient.ListAndWatch).compose(call -> {
            if (end == End.DEADLINE) {
                call.timeout(DEADLINE_MILLIS, TimeUnit.MILLISECONDS);
            }
            return call.send(Empty.getDefaultInstance())
                    .map(response -> response.handler(lists::add))
                    .map(call);
        });
    }

    @Override
    public void close() {
        client.close().await();
    }
}
