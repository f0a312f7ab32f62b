package io.gpufleet.compose.bench.daemon;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a plugin sees of a kubelet, with the instants at which things came; nobody holds a device here. */
final class BenchKubelet implements AutoCloseable {
    private static final byte[] OPTIONS = PluginLine.method("/v1beta1.DevicePlugin/GetDevicePluginOptions");
    private static final byte[] LIST_AND_WATCH = PluginLine.method("/v1beta1.DevicePlugin/ListAndWatch");

    /** A list and when its last byte was here, by the monotonic clock. */
    record Shown(ListAndWatchResponse list, long nanos) {
        static final ListAndWatchResponse NOTHING = ListAndWatchResponse.getDefaultInstance();

        long healthy() {
            return list.getDevicesList().stream()
                    .filter(device -> device.getHealth().equals("Healthy"))
                    .count();
        }
    }

    private final Path directory;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Collection<PluginLine> lines = new CopyOnWriteArrayList<>();
    private @Nullable EmptyAnswers registrations;
    private @Nullable EmptyAnswers podResources;
    private @Nullable Shown shown;
    private @Nullable Path plugin;
    private long registeredNanos;

    /** Listens below a directory, whose path is short enough for a socket. */
    BenchKubelet(Path directory) {
        this.directory = directory;
        open();
    }

    Path pluginDirectory() {
        return directory.resolve("device-plugins");
    }

    Path podResourcesSocket() {
        return directory.resolve("pod-resources").resolve("kubelet.sock");
    }

    /** Comes back as a kubelet does after its end: connections gone, every socket deleted. The instant it listened. */
    long restart() {
        close();
        return open();
    }

    private long open() {
        try {
            Files.createDirectories(pluginDirectory());
            try (DirectoryStream<Path> sockets = Files.newDirectoryStream(pluginDirectory(), "*.sock")) {
                for (Path socket : sockets) {
                    Files.deleteIfExists(socket);
                }
            }
            podResources = new EmptyAnswers(podResourcesSocket(), _ -> {});
            registrations = new EmptyAnswers(pluginDirectory().resolve("kubelet.sock"), this::register);
            return System.nanoTime();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Dials the plugin before Register is answered, as a kubelet does. */
    private void register(byte[] question) {
        try {
            long now = System.nanoTime();
            Path socket = pluginDirectory()
                    .resolve(RegisterRequest.parseFrom(question).getEndpoint());
            PluginLine line = PluginLine.to(socket);
            lines.add(line);
            line.call(OPTIONS, new byte[0]);
            lock.lock();
            try {
                registeredNanos = now;
                plugin = socket;
            } finally {
                lock.unlock();
            }
            Thread.ofPlatform().name("bench-watch").daemon(true).start(() -> watch(line));
        } catch (IOException failed) {
            throw new UncheckedIOException("the plugin registered, and does not answer", failed);
        }
    }

    private void watch(PluginLine line) {
        try (line) {
            line.watch(LIST_AND_WATCH);
            while (true) {
                line.next();
                show(line, System.nanoTime());
            }
        } catch (IOException ended) {
            lines.remove(line);
        }
    }

    private void show(PluginLine line, long nanos) throws InvalidProtocolBufferException {
        var next = new Shown(ListAndWatchResponse.parseFrom(line.answer()), nanos);
        lock.lock();
        try {
            shown = next;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a list. */
    Shown await(String what, Predicate<Shown> wanted, Duration patience) throws InterruptedException {
        long left = patience.toNanos();
        lock.lock();
        try {
            while (true) {
                Shown now = shown;
                if (now != null && wanted.test(now)) {
                    return now;
                }
                if (left <= 0) {
                    throw new IllegalStateException(
                            "waited " + patience.toSeconds() + " s for " + what + "; the plugin "
                                    + (now == null
                                            ? "showed no list"
                                            : "shows " + now.healthy() + " healthy of "
                                                    + now.list().getDevicesCount()));
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** When the plugin last registered. */
    long registeredNanos() {
        lock.lock();
        try {
            return registeredNanos;
        } finally {
            lock.unlock();
        }
    }

    /** The socket of the plugin that registered last. */
    Path plugin() {
        lock.lock();
        try {
            Path socket = plugin;
            if (socket == null) {
                throw new IllegalStateException("no plugin registered");
            }
            return socket;
        } finally {
            lock.unlock();
        }
    }

    /** Hangs up on everybody and forgets what was shown. */
    @Override
    public void close() {
        List.of(nonNull(registrations), nonNull(podResources)).forEach(EmptyAnswers::close);
        for (PluginLine line : lines) {
            try {
                line.close();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        lines.clear();
        lock.lock();
        try {
            shown = null;
        } finally {
            lock.unlock();
        }
    }

    private static EmptyAnswers nonNull(@Nullable EmptyAnswers server) {
        if (server == null) {
            throw new IllegalStateException("the kubelet does not listen");
        }
        return server;
    }
}
