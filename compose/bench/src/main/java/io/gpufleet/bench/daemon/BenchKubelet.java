package io.gpufleet.bench.daemon;

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

/** The sockets of a kubelet, with the times of the plugin's messages; no device has a holder. */
final class BenchKubelet implements AutoCloseable {
    private static final byte[] OPTIONS = RawGrpcClient.requestHeaders("/v1beta1.DevicePlugin/GetDevicePluginOptions");
    private static final byte[] LIST_AND_WATCH = RawGrpcClient.requestHeaders("/v1beta1.DevicePlugin/ListAndWatch");

    /** A list and the time of its last byte, by the monotonic clock. */
    record ReceivedDevices(ListAndWatchResponse list, long nanos) {
        static final ListAndWatchResponse EMPTY = ListAndWatchResponse.getDefaultInstance();

        long healthy() {
            return list.getDevicesList().stream()
                    .filter(device -> device.getHealth().equals("Healthy"))
                    .count();
        }
    }

    private final Path directory;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Collection<RawGrpcClient> connections = new CopyOnWriteArrayList<>();
    private @Nullable EmptyResponseServer registrations;
    private @Nullable EmptyResponseServer podResources;
    private @Nullable ReceivedDevices received;
    private @Nullable Path plugin;
    private long registeredNanos;

    /** Listens below a directory; its path must be short enough for a socket. */
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

    /** Restarts as a kubelet does: connections closed, every socket deleted. Returns the time at which it listens. */
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
            podResources = new EmptyResponseServer(podResourcesSocket(), _ -> {});
            registrations = new EmptyResponseServer(pluginDirectory().resolve("kubelet.sock"), this::register);
            return System.nanoTime();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Connects to the plugin before Register is answered, as a kubelet does. */
    private void register(byte[] question) {
        try {
            long now = System.nanoTime();
            Path socket = pluginDirectory()
                    .resolve(RegisterRequest.parseFrom(question).getEndpoint());
            RawGrpcClient line = RawGrpcClient.connect(socket);
            connections.add(line);
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
            throw new UncheckedIOException("the plugin registered and does not answer", failed);
        }
    }

    private void watch(RawGrpcClient line) {
        try (line) {
            line.watch(LIST_AND_WATCH);
            while (true) {
                line.next();
                receive(line, System.nanoTime());
            }
        } catch (IOException ended) {
            connections.remove(line);
        }
    }

    private void receive(RawGrpcClient line, long nanos) throws InvalidProtocolBufferException {
        var next = new ReceivedDevices(ListAndWatchResponse.parseFrom(line.response()), nanos);
        lock.lock();
        try {
            received = next;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a list. */
    ReceivedDevices await(String what, Predicate<ReceivedDevices> wanted, Duration timeout)
            throws InterruptedException {
        long left = timeout.toNanos();
        lock.lock();
        try {
            while (true) {
                ReceivedDevices now = received;
                if (now != null && wanted.test(now)) {
                    return now;
                }
                if (left <= 0) {
                    throw new IllegalStateException("waited " + timeout.toSeconds() + " s for " + what + "; the plugin "
                            + (now == null
                                    ? "sent no list"
                                    : "shows " + now.healthy() + " healthy of "
                                            + now.list().getDevicesCount()));
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Time of the last registration. */
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

    /** Closes every connection and drops the received list. */
    @Override
    public void close() {
        List.of(requireOpen(registrations), requireOpen(podResources)).forEach(EmptyResponseServer::close);
        for (RawGrpcClient line : connections) {
            try {
                line.close();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        connections.clear();
        lock.lock();
        try {
            received = null;
        } finally {
            lock.unlock();
        }
    }

    private static EmptyResponseServer requireOpen(@Nullable EmptyResponseServer server) {
        if (server == null) {
            throw new IllegalStateException("the kubelet is not listening");
        }
        return server;
    }
}
