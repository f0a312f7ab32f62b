package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.grpc.common.GrpcMessage;
import io.vertx.grpc.server.GrpcServerRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The open ListAndWatch streams; each gets every change once, and the failure of one stays its own: any process of the node
 * may watch and cancel. All calls on one context, except {@link #publish}.
 *
 * <p>A stream counts as open until its connection closes: a kubelet closes it when it has torn down the plugin, and not when
 * we end the stream.
 */
final class ListAndWatchStreams {
    /** Time after which an ended stream counts as closed though its connection is open, as a debugger's may stay. */
    static final Duration TEARDOWN_LIMIT = Duration.ofSeconds(5);

    private final Context context;
    private final Duration teardownLimit;
    private final Supplier<DeviceList> current;
    private final Runnable opened;
    private final Runnable ended;
    private final List<OpenStream> open = new ArrayList<>();
    private volatile int count;
    /** The newest list is serialised once for all streams. */
    private DeviceList serialisedList = new DeviceList(-1, List.of());

    private GrpcMessage serialised = GrpcMessage.message("identity", Buffer.buffer());

    private static final class OpenStream {
        private final GrpcServerRequest<Empty, ListAndWatchResponse> call;
        private long publishedVersion = -1;
        private boolean announced;
        private boolean closed;
        /** Gets no further lists. */
        private boolean muted;

        private boolean ending;

        private OpenStream(GrpcServerRequest<Empty, ListAndWatchResponse> call) {
            this.call = call;
        }
    }

    ListAndWatchStreams(
            Context context, Duration teardownLimit, Supplier<DeviceList> current, Runnable opened, Runnable ended) {
        this.context = context;
        this.teardownLimit = teardownLimit;
        this.current = current;
        this.opened = opened;
        this.ended = ended;
    }

    int count() {
        return count;
    }

    void accept(GrpcServerRequest<Empty, ListAndWatchResponse> call) {
        var stream = new OpenStream(call);
        // A reset of the stream is reported as an error, the end of its connection as an exception.
        call.errorHandler(_ -> closed(stream));
        call.exceptionHandler(_ -> closed(stream));
        call.response().exceptionHandler(_ -> closed(stream));
        HttpConnection connection = call.connection();
        connection.closeHandler(_ -> context.runOnContext(_ -> closed(connection)));
        open.add(stream);
        count = open.size();
        // The list first: it is what the kubelet waits for.
        publish(stream, current.get());
        if (!stream.closed) {
            stream.announced = true;
            opened.run();
        }
    }

    /** Sends the current list on every stream; thread-safe. */
    void publish() {
        context.runOnContext(_ -> {
            DeviceList list = current.get();
            List.copyOf(open).forEach(stream -> publish(stream, list));
        });
    }

    /** Skips outdated lists and those already sent. */
    private void publish(OpenStream stream, DeviceList list) {
        if (!stream.closed && !stream.ending && !stream.muted && stream.publishedVersion < list.version()) {
            stream.publishedVersion = list.version();
            GrpcMessage message = serialised(list);
            send(stream, () -> stream.call.response().writeMessage(message));
        }
    }

    private GrpcMessage serialised(DeviceList list) {
        if (list != serialisedList) {
            serialisedList = list;
            serialised = GrpcMessage.message(
                    "identity", Buffer.buffer(DevicePluginMessages.list(list).toByteArray()));
        }
        return serialised;
    }

    /** Vert.x throws where a stream has failed already, and fails the future where it fails now. */
    private void send(OpenStream stream, Supplier<Future<Void>> message) {
        try {
            message.get().onFailure(_ -> closed(stream));
        } catch (IllegalStateException failedBefore) {
            closed(stream);
        }
    }

    /** Sends no more lists on the streams that are open now. */
    void mute() {
        open.forEach(stream -> stream.muted = true);
    }

    /** Ends every stream; the kubelet tears down the plugin and closes its connection then. */
    void endAll() {
        for (OpenStream stream : List.copyOf(open)) {
            if (!stream.ending) {
                stream.ending = true;
                send(stream, () -> stream.call.response().end());
                context.owner().setTimer(teardownLimit.toMillis(), _ -> context.runOnContext(_ -> closed(stream)));
            }
        }
    }

    private void closed(HttpConnection connection) {
        List.copyOf(open).stream()
                .filter(stream -> stream.call.connection().equals(connection))
                .forEach(this::closed);
    }

    private void closed(OpenStream stream) {
        if (!stream.closed) {
            stream.closed = true;
            open.remove(stream);
            count = open.size();
            if (stream.announced) {
                ended.run();
            }
        }
    }
}
