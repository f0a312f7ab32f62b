package io.gpufleet.compose.kubelet;

import static io.gpufleet.compose.kubelet.UnixServer.await;

import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerPreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerGrpcService;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A kubelet's device manager without the rest of a kubelet: it lets plugins register, follows their lists, hands out
 * devices and tells who holds what, with the habits and the error texts of kubelets up to 1.35. Methods may block and
 * are not for event loops; several threads may call them.
 */
public final class StandInKubelet implements AutoCloseable {
    /** How long a resource outlives its plugin. */
    private static final Duration GRACE = Duration.ofMinutes(5);

    private final Vertx vertx;
    private final Path directory;
    private final DeviceBook book = new DeviceBook();
    private final List<Checkpoint.Entry> orphans = new CopyOnWriteArrayList<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final ReentrantLock admission = new ReentrantLock(true);
    private final PluginRegistry registry;
    /** Guarded by orphans, as the checkpoint file is. */
    private boolean running;

    private @Nullable UnixServer registrations;
    private @Nullable UnixServer podResources;
    private @Nullable PluginWatcher watcher;

    private StandInKubelet(Vertx vertx, Path directory) {
        this.vertx = vertx;
        this.directory = directory;
        this.registry = new PluginRegistry(vertx, devicePluginDirectory(), book, GRACE, this::changed);
    }

    /**
     * Starts a kubelet with its sockets below a directory: {@code device-plugins/kubelet.sock} and
     * {@code pod-resources/kubelet.sock}; it also comes to sockets in {@code plugins_registry}. Keep the directory's path short, a socket's path has 107 bytes at most.
     */
    public static StandInKubelet start(Vertx vertx, Path directory) {
        var kubelet = new StandInKubelet(vertx, directory);
        try {
            kubelet.orphans.addAll(Checkpoint.read(kubelet.devicePluginDirectory()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        kubelet.open();
        return kubelet;
    }

    /** Where plugins put their sockets. */
    public Path devicePluginDirectory() {
        return directory.resolve("device-plugins");
    }

    /** Where plugins may put a socket instead, to be found there. */
    public Path pluginsRegistryDirectory() {
        return directory.resolve("plugins_registry");
    }

    /** Where podresources v1 is served. */
    public Path podResourcesSocket() {
        return directory.resolve("pod-resources").resolve("kubelet.sock");
    }

    /** Calls back after every change of devices or allocations, on any thread; must not block. */
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    /** Every resource that is known, by name. */
    public Map<String, ResourceView> resources() {
        return book.views();
    }

    /** One resource, when a plugin for it registered within the last five minutes. */
    public Optional<ResourceView> resource(String name) {
        return Optional.ofNullable(book.views().get(name));
    }

    /** How often Register was answered well for the resource since the start, restarts included. */
    public int registrations(String resource) {
        return registry.registrations(resource);
    }

    /** All that is held, in the order of allocation. */
    public List<Allocation> allocations() {
        return book.allocations();
    }

    /** As the other, for tests that have no pod object: the UID is {@code <namespace>-<pod>}. */
    public Allocation allocate(String namespace, String pod, String container, String resource, int count)
            throws AdmissionException {
        return allocate(new PodKey(namespace, pod, namespace + "-" + pod), container, resource, count);
    }

    /** Gives devices to a container, or what it has already; one at a time, as a kubelet admits pods. */
    public Allocation allocate(PodKey pod, String container, String resource, int count) throws AdmissionException {
        admission.lock();
        try {
            Optional<Allocation> already = book.find(pod, container, resource);
            if (already.isPresent()) {
                return already.get();
            }
            Plugin plugin = registry.plugin(resource)
                    .orElseThrow(() -> new AdmissionException(
                            book.knows(resource)
                                    ? unavailable(resource, count, 0)
                                    : "cannot allocate unregistered device " + resource));
            List<String> ids = choose(plugin, resource, count);
            book.reserve(resource, ids);
            try {
                var allocation = new Allocation(pod, container, resource, ids, ask(plugin, ids));
                book.hold(allocation);
                changed();
                return allocation;
            } finally {
                book.unreserve(resource, ids);
            }
        } finally {
            admission.unlock();
        }
    }

    /** Takes over what a pod held under an earlier kubelet process, by the checkpoint it left. */
    public void adopt(PodKey pod) {
        for (Checkpoint.Entry entry : orphans) {
            if (entry.podUid().equals(pod.uid())) {
                orphans.remove(entry);
                book.hold(
                        new Allocation(pod, entry.container(), entry.resource(), entry.deviceIds(), entry.response()));
            }
        }
        changed();
    }

    /** The pod ended; its devices are free. */
    public void release(String namespace, String pod) {
        if (book.release(namespace, pod)) {
            changed();
        }
    }

    /** Goes away and comes back: connections end, every socket in the directory is deleted, allocations stay. */
    public void restart() {
        stop();
        open();
    }

    /** Goes away: sockets closed, plugins hung up on. Allocations stay; {@link #restart()} comes back. */
    public void stop() {
        synchronized (orphans) {
            running = false;
        }
        try {
            closeServers();
            registry.hangUp();
            book.forgetDevices();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        stop();
    }

    private void open() {
        try {
            Files.createDirectories(devicePluginDirectory());
            deleteSockets();
            synchronized (orphans) {
                running = true;
            }
            podResources = UnixServer.open(
                    vertx, podResourcesSocket(), PodResourcesListerGrpcService.of(new PodResourcesAnswers(book)));
            registrations = UnixServer.open(vertx, devicePluginDirectory().resolve("kubelet.sock"), registry.service());
            watcher = new PluginWatcher(vertx, Files.createDirectories(pluginsRegistryDirectory()), registry);
            changed();
        } catch (IOException failed) {
            throw new UncheckedIOException("stand-in kubelet at " + directory, failed);
        }
    }

    private void closeServers() throws IOException {
        if (watcher != null) {
            watcher.close();
            watcher = null;
        }
        for (UnixServer server : new @Nullable UnixServer[] {registrations, podResources}) {
            if (server != null) {
                server.close();
            }
        }
        registrations = null;
        podResources = null;
    }

    /** The kubelet removes every socket at its start, also the plugins', and leaves the checkpoint. */
    private void deleteSockets() throws IOException {
        try (var files = Files.newDirectoryStream(devicePluginDirectory(), UnixFiles::isSocket)) {
            for (Path socket : files) {
                Files.deleteIfExists(socket);
            }
        }
    }

    private List<String> choose(Plugin plugin, String resource, int count) throws AdmissionException {
        List<String> free =
                book.free(resource).stream().map(ResourceView.Device::id).toList();
        if (free.size() < count) {
            throw new AdmissionException(unavailable(resource, count, free.size()));
        }
        var chosen = new LinkedHashSet<String>();
        if (plugin.options().getGetPreferredAllocationAvailable() && free.size() > count) {
            chosen.addAll(preferred(plugin, free, count));
            chosen.retainAll(free);
        }
        free.forEach(id -> {
            if (chosen.size() < count) {
                chosen.add(id);
            }
        });
        return new ArrayList<>(chosen).subList(0, count).stream().sorted().toList();
    }

    private static List<String> preferred(Plugin plugin, List<String> free, int count) throws AdmissionException {
        var request = PreferredAllocationRequest.newBuilder()
                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                        .addAllAvailableDeviceIDs(free)
                        .setAllocationSize(count))
                .build();
        try {
            var answer = await(plugin.call(DevicePluginGrpcClient.GetPreferredAllocation, request));
            return answer.getContainerResponsesCount() == 0
                    ? List.of()
                    : answer.getContainerResponses(0).getDeviceIDsList();
        } catch (IOException failed) {
            throw new AdmissionException("Allocate failed due to " + failed.getMessage() + ", which is unexpected");
        }
    }

    private static ContainerAllocateResponse ask(Plugin plugin, List<String> ids) throws AdmissionException {
        var request = AllocateRequest.newBuilder()
                .addContainerRequests(ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                .build();
        try {
            var answer = await(plugin.call(DevicePluginGrpcClient.Allocate, request));
            if (answer.getContainerResponsesCount() == 0) {
                throw new AdmissionException(
                        "Allocate failed due to no containers return in allocation response" + ", which is unexpected");
            }
            return answer.getContainerResponses(0);
        } catch (IOException failed) {
            throw new AdmissionException("Allocate failed due to " + failed.getMessage() + ", which is unexpected");
        }
    }

    private static String unavailable(String resource, int count, int free) {
        return "Allocate failed due to requested number of devices unavailable for " + resource + ". Requested: "
                + count + ", Available: " + free + ", which is unexpected";
    }

    private void changed() {
        synchronized (orphans) {
            if (!running) {
                return;
            }
            try {
                Checkpoint.write(devicePluginDirectory(), book.allocations(), book.views());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        listeners.forEach(Runnable::run);
    }
}
