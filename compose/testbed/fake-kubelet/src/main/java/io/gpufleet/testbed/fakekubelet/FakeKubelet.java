package io.gpufleet.testbed.fakekubelet;

import static io.gpufleet.testbed.fakekubelet.UnixSocketServer.await;

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
 * The device manager of a kubelet: it registers plugins, follows their lists, allocates devices and serves
 * podresources, with the behaviour and the error texts of kubelets up to 1.35. Methods may block and are not for event
 * loops; several threads may call them.
 */
public final class FakeKubelet implements AutoCloseable {
    /** Time after which a resource without a plugin is removed. */
    private static final Duration STOP_GRACE_PERIOD = Duration.ofMinutes(5);

    private final Vertx vertx;
    private final Path directory;
    private final DeviceInventory inventory = new DeviceInventory();
    private final List<Checkpoint.PodDevicesEntry> orphans = new CopyOnWriteArrayList<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final ReentrantLock admission = new ReentrantLock(true);
    private final PluginRegistry registry;
    /** Guarded by orphans, like the checkpoint file. */
    private boolean running;

    private @Nullable UnixSocketServer registrations;
    private @Nullable UnixSocketServer podResources;
    private @Nullable PluginWatcher watcher;

    private FakeKubelet(Vertx vertx, Path directory) {
        this.vertx = vertx;
        this.directory = directory;
        this.registry = new PluginRegistry(vertx, devicePluginDirectory(), inventory, STOP_GRACE_PERIOD, this::changed);
    }

    /**
     * Starts a kubelet with its sockets below a directory: {@code device-plugins/kubelet.sock} and {@code
     * pod-resources/kubelet.sock}; it also connects to sockets in {@code plugins_registry}. A socket path has 107 bytes
     * at most, so the directory's path must be short.
     */
    public static FakeKubelet start(Vertx vertx, Path directory) {
        var kubelet = new FakeKubelet(vertx, directory);
        try {
            kubelet.orphans.addAll(Checkpoint.read(kubelet.devicePluginDirectory()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        kubelet.open();
        return kubelet;
    }

    /** Directory of the plugins' sockets. */
    public Path devicePluginDirectory() {
        return directory.resolve("device-plugins");
    }

    /** Directory that the kubelet watches for plugins' sockets. */
    public Path pluginsRegistryDirectory() {
        return directory.resolve("plugins_registry");
    }

    /** Socket of podresources v1. */
    public Path podResourcesSocket() {
        return directory.resolve("pod-resources").resolve("kubelet.sock");
    }

    /** Calls back after every change of devices or allocations, on any thread; must not block. */
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    /** Every resource that is known, by name. */
    public Map<String, AdvertisedResource> resources() {
        return inventory.views();
    }

    /** A resource; empty when no plugin for it was registered in the last five minutes. */
    public Optional<AdvertisedResource> resource(String name) {
        return Optional.ofNullable(inventory.views().get(name));
    }

    /** Number of successful Register calls for the resource since the start, restarts included. */
    public int registrations(String resource) {
        return registry.registrations(resource);
    }

    /** Responds to Register in another way from now on, also after a restart. */
    public void respondToRegister(RegisterBehaviour with) {
        registry.respondToRegister(with);
    }

    /** All allocations, in order. */
    public List<DeviceAllocation> allocations() {
        return inventory.allocations();
    }

    /** Allocates for a pod without an object; the UID is {@code <namespace>-<pod>}. */
    public DeviceAllocation allocate(String namespace, String pod, String container, String resource, int count)
            throws AdmissionException {
        return allocate(new PodKey(namespace, pod, namespace + "-" + pod), container, resource, count);
    }

    /** Allocates devices to a container, or returns its allocation; one call at a time, as a kubelet admits pods. */
    public DeviceAllocation allocate(PodKey pod, String container, String resource, int count)
            throws AdmissionException {
        admission.lock();
        try {
            Optional<DeviceAllocation> already = inventory.find(pod, container, resource);
            if (already.isPresent()) {
                return already.get();
            }
            PluginConnection plugin = registry.plugin(resource)
                    .orElseThrow(() -> new AdmissionException(
                            inventory.isKnown(resource)
                                    ? unavailable(resource, count, 0)
                                    : "cannot allocate unregistered device " + resource));
            List<String> ids = selectDevices(plugin, resource, count);
            inventory.reserve(resource, ids);
            try {
                var allocation = new DeviceAllocation(pod, container, resource, ids, callAllocate(plugin, ids));
                inventory.add(allocation);
                changed();
                return allocation;
            } finally {
                inventory.unreserve(resource, ids);
            }
        } finally {
            admission.unlock();
        }
    }

    /** Takes over the allocations of a pod from the checkpoint of an earlier kubelet process. */
    public void adopt(PodKey pod) {
        for (Checkpoint.PodDevicesEntry entry : orphans) {
            if (entry.podUid().equals(pod.uid())) {
                orphans.remove(entry);
                inventory.add(new DeviceAllocation(
                        pod, entry.container(), entry.resource(), entry.deviceIds(), entry.response()));
            }
        }
        changed();
    }

    /** Releases the devices of a pod. */
    public void release(String namespace, String pod) {
        if (inventory.release(namespace, pod)) {
            changed();
        }
    }

    /** Restarts: connections end, every socket in the directory is deleted, allocations stay. */
    public void restart() {
        stop();
        open();
    }

    /** Stops: sockets and connections are closed. Allocations stay; {@link #restart()} opens them again. */
    public void stop() {
        synchronized (orphans) {
            running = false;
        }
        try {
            closeServers();
            registry.closeAll();
            inventory.clearDevices();
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
            podResources = UnixSocketServer.open(
                    vertx, podResourcesSocket(), PodResourcesListerGrpcService.of(new PodResourcesServer(inventory)));
            registrations =
                    UnixSocketServer.open(vertx, devicePluginDirectory().resolve("kubelet.sock"), registry.service());
            watcher = new PluginWatcher(vertx, Files.createDirectories(pluginsRegistryDirectory()), registry);
            changed();
        } catch (IOException failed) {
            throw new UncheckedIOException("fake kubelet at " + directory, failed);
        }
    }

    private void closeServers() throws IOException {
        if (watcher != null) {
            watcher.close();
            watcher = null;
        }
        for (UnixSocketServer server : new @Nullable UnixSocketServer[] {registrations, podResources}) {
            if (server != null) {
                server.close();
            }
        }
        registrations = null;
        podResources = null;
    }

    /** The kubelet removes every socket at its start, also those of the plugins, and keeps the checkpoint. */
    private void deleteSockets() throws IOException {
        try (var files = Files.newDirectoryStream(devicePluginDirectory(), SocketFileDetector::isSocket)) {
            for (Path socket : files) {
                Files.deleteIfExists(socket);
            }
        }
    }

    private List<String> selectDevices(PluginConnection plugin, String resource, int count) throws AdmissionException {
        List<String> free = inventory.free(resource).stream()
                .map(AdvertisedResource.Device::id)
                .toList();
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

    private static List<String> preferred(PluginConnection plugin, List<String> free, int count)
            throws AdmissionException {
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

    private static ContainerAllocateResponse callAllocate(PluginConnection plugin, List<String> ids)
            throws AdmissionException {
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
                Checkpoint.write(devicePluginDirectory(), inventory.allocations(), inventory.views());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        listeners.forEach(Runnable::run);
    }
}
