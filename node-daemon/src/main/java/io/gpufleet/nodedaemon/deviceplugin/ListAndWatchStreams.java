package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.proto.kubelet.GrpcServerCall;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The open ListAndWatch streams; each gets the newest list once it has read the last one, and the failure of one stays its
 * own: any process of the node may watch, cancel and stop reading. All calls on one event loop.
 *
 * <p>A stream counts as open until its connection closes: a kubelet closes it when it has torn down the plugin, and not when
 * we end the stream.
 */
final class ListAndWatchStreams {
    /** Time after which an ended stream counts as closed though its connection is open, as a debugger's may stay. */
    static final Duration TEARDOWN_LIMIT = Duration.ofSeconds(5);

    private final EventLoop loop;
    private final Duration teardownLimit;
    private final Supplier<DeviceList> current;
    private final Runnable opened;
    private final Runnable ended;
    private final List<OpenStream> open = new ArrayList<>();
    private volatile int count;
    /** The newest list is serialised once for all streams. */
    private DeviceList serialisedList = new DeviceList(-1, List.of());

    private byte[] serialised = {};

    private static final class OpenStream {
        private final GrpcServerCall call;
        private long publishedVersion = -1;
        private boolean announced;
        /** A list is not written yet, since the client has not read what was sent before. */
        private boolean writing;

        private boolean closed;
        /** Gets no further lists. */
        private boolean muted;

        private boolean ending;

        private OpenStream(GrpcServerCall call) {
            this.call = call;
        }
    }

    ListAndWatchStreams(
            EventLoop loop, Duration teardownLimit, Supplier<DeviceList> current, Runnable opened, Runnable ended) {
        this.loop = loop;
        this.teardownLimit = teardownLimit;
        this.current = current;
        this.opened = opened;
        this.ended = ended;
    }

    int count() {
        return count;
    }

    void accept(GrpcServerCall call) {
        var stream = new OpenStream(call);
        open.add(stream);
        count = open.size();
        call.onClosed(() -> closed(stream));
        // The list first: it is what the kubelet waits for.
        publish(stream, current.get());
        if (!stream.closed) {
            stream.announced = true;
            opened.run();
        }
    }

    /** Sends the current list on every stream. */
    void publish() {
        DeviceList list = current.get();
        List.copyOf(open).forEach(stream -> publish(stream, list));
    }

    /** Skips outdated lists and those already sent. */
    private void publish(OpenStream stream, DeviceList list) {
        if (!stream.closed
                && !stream.ending
                && !stream.muted
                && !stream.writing
                && stream.publishedVersion < list.version()) {
            stream.publishedVersion = list.version();
            stream.writing = true;
            stream.call.send(serialised(list), () -> {
                stream.writing = false;
                publish(stream, current.get());
            });
        }
    }

    private byte[] serialised(DeviceList list) {
        if (list != serialisedList) {
            serialisedList = list;
            serialised = DevicePluginMessages.list(list).toByteArray();
        }
        return serialised;
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
                stream.call.end();
                loop.schedule(() -> closed(stream), teardownLimit.toMillis(), TimeUnit.MILLISECONDS);
            }
        }
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
