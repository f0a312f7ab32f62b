package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.vertx.core.Context;
import io.vertx.grpc.server.GrpcServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The open ListAndWatch streams; every one gets every change once. All calls on one context. */
final class WatchStreams {
    private final Context context;
    private final Supplier<DeviceList> current;
    private final Runnable opened;
    private final Runnable ended;
    private final List<Stream> open = new ArrayList<>();
    private volatile int count;

    private static final class Stream {
        private final GrpcServerRequest<Empty, ListAndWatchResponse> call;
        private long shownVersion = -1;
        private boolean over;
        private boolean hushed;

        private Stream(GrpcServerRequest<Empty, ListAndWatchResponse> call) {
            this.call = call;
        }
    }

    WatchStreams(Context context, Supplier<DeviceList> current, Runnable opened, Runnable ended) {
        this.context = context;
        this.current = current;
        this.opened = opened;
        this.ended = ended;
    }

    int count() {
        return count;
    }

    void accept(GrpcServerRequest<Empty, ListAndWatchResponse> call) {
        var stream = new Stream(call);
        call.exceptionHandler(_ -> over(stream));
        call.response().exceptionHandler(_ -> over(stream));
        open.add(stream);
        count = open.size();
        opened.run();
        show(stream, current.get());
    }

    /** Shows a list everywhere; from any thread. */
    void show() {
        context.runOnContext(_ -> {
            DeviceList list = current.get();
            List.copyOf(open).forEach(stream -> show(stream, list));
        });
    }

    /** A list that was overtaken is left out, one that was shown is not shown again. */
    private void show(Stream stream, DeviceList list) {
        if (!stream.over && !stream.hushed && stream.shownVersion < list.version()) {
            stream.shownVersion = list.version();
            stream.call.response().write(PluginMessages.list(list)).onFailure(_ -> over(stream));
        }
    }

    /** Shows nothing more on the streams that are open now. */
    void hush() {
        open.forEach(stream -> stream.hushed = true);
    }

    /** Ends every stream; the kubelet then closes its connection. */
    void endAll() {
        for (Stream stream : List.copyOf(open)) {
            stream.call.response().end();
            over(stream);
        }
    }

    private void over(Stream stream) {
        if (!stream.over) {
            stream.over = true;
            open.remove(stream);
            count = open.size();
            ended.run();
        }
    }
}
