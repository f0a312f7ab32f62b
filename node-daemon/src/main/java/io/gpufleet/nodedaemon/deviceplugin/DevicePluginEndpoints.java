package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.kit.lifecycle.OnDemandThread;
import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.ListAndWatchPublisher;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationMode;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** One {@endpoint DevicePluginEndpoint} per resource, and one watch of the kubelet's directory for all of them. */
public final class DevicePluginEndpoints implements ListAndWatchPublisher, AutoCloseable {
    private static final String CHECKPOINT = "kubelet_internal_checkpoint";
    private static final long CHECK_MILLIS = 10_000;
    /** Looks at an unchanged directory, of which there is one a second. */
    private static final int REPEATED_OBSERVATION = 5;
    /** For so long the end of the process waits for the event loop. */
    private static final long LOOP_MILLIS = 100;

    private final KubeletConnectionSettings settings;
    private final DevicePluginEndpoint.DevicePluginContext pluginContext;
    private final AllocationHandler allocationHandler;
    private final Map<String, DevicePluginEndpoint> endpoints = new ConcurrentSkipListMap<>();
    private @Nullable DirectoryWatch watch;
    /** Until the kubelet has its first list, or none is due: no devices, no kubelet, another plugin, a failed registration. */
    private final CountDownLatch firstList = new CountDownLatch(1);

    private @Nullable ScheduledFuture<?> checkTimer;
    /** Accessed only by the thread that watches the directory. */
    private boolean foreignPluginChanged;
    /** Accessed only by the same thread. */
    private boolean staleSockets = true;

    private KubeletSocket lastSeen = new KubeletSocket.Absent();
    private int unchanged;

    /**
     * Configuration of the endpoints.
     *
     * @param directory the kubelet's device-plugins directory
     * @param registry the kubelet's plugins_registry directory, used only with that transport
     * @param epoch epoch of this daemon; part of the sockets' names
     * @param notifier watches the directory for changes
     * @param checkpointChanged called on any thread when the kubelet's checkpoint changed
     */
    public record KubeletConnectionSettings(
            Path directory,
            Path registry,
            RegistrationSettings registration,
            long epoch,
            DirectoryWatch.WatchServiceFactory notifier,
            Runnable checkpointChanged) {
        /** Default settings, with inotify as notifier. */
        public KubeletConnectionSettings(Path directory, long epoch, Runnable checkpointChanged) {
            this(
                    directory,
                    directory.resolveSibling("plugins_registry"),
                    RegistrationSettings.DEFAULT,
                    epoch,
                    () -> directory.getFileSystem().newWatchService(),
                    checkpointChanged);
        }
    }

    /** Creates endpoints on an event loop; nothing is registered until the first {@endpoint #publish}. */
    public DevicePluginEndpoints(
            EventLoop loop,
            KubeletConnectionSettings settings,
            AllocationHandler allocationHandler,
            DaemonCounters counters,
            LongSupplier nanos) {
        Path socketDirectory = switch (settings.registration().transport()) {
            case DEVICE_PLUGINS -> settings.directory();
            case PLUGINS_REGISTRY -> settings.registry();
        };
        this.settings = settings;
        this.pluginContext = new DevicePluginEndpoint.DevicePluginContext(
                loop,
                OnDemandThread.executor("kubelet-files"),
                new DevicePluginsDirectory(settings.directory()),
                new PluginSocketPaths(socketDirectory, settings.epoch()),
                settings.registration(),
                counters,
                nanos);
        this.allocationHandler = allocationHandler;
    }

    @Override
    public synchronized void publish(Map<String, DeviceList> lists) {
        if (settings.registration().mode() != RegistrationMode.OFF) {
            // A resource is registered once it has devices; then an empty list is published as well.
            lists.forEach((resource, list) -> {
                if (!list.devices().isEmpty() && !endpoints.containsKey(resource)) {
                    openEndpoint(resource);
                }
            });
        }
        if (watch == null) {
            watch = new DirectoryWatch(settings.directory(), this::directoryChanged, settings.notifier());
            checkTimer = pluginContext
                    .loop()
                    .scheduleWithFixedDelay(
                            () -> endpoints.values().forEach(DevicePluginEndpoint::check),
                            CHECK_MILLIS,
                            CHECK_MILLIS,
                            TimeUnit.MILLISECONDS);
        }
        endpoints.values().forEach(DevicePluginEndpoint::publish);
        if (endpoints.isEmpty()) {
            firstList.countDown();
        }
    }

    private void openEndpoint(String resource) {
        var endpoint = new DevicePluginEndpoint(
                pluginContext, resource, allocationHandler.resource(resource), firstList::countDown);
        endpoints.put(resource, endpoint);
        endpoint.socketObserved(pluginContext.directory().readKubeletSocket());
    }

    /** Without a change the kubelet's loop is told every few seconds only, since each time wakes its thread. */
    private void directoryChanged(Set<String> names) {
        var seen = pluginContext.directory().readKubeletSocket();
        unchanged = names.isEmpty() && seen.equals(lastSeen) ? unchanged + 1 : 0;
        lastSeen = seen;
        if (unchanged % REPEATED_OBSERVATION == 0) {
            endpoints.values().forEach(endpoint -> endpoint.socketObserved(seen));
        }
        boolean foreign = names.stream().anyMatch(DevicePluginsDirectory::isForeignPlugin);
        // A socket file exists before its server accepts connections, so the next call, within a second, checks again.
        if (foreign || foreignPluginChanged) {
            endpoints.values().forEach(DevicePluginEndpoint::foreignPluginChanged);
        }
        foreignPluginChanged = foreign;
        if (names.contains(CHECKPOINT)) {
            settings.checkpointChanged().run();
        }
        removeStaleSockets();
    }

    /** Of both transports, since the daemon before may have had the other one; until none of an earlier daemon is left. */
    private void removeStaleSockets() {
        if (staleSockets) {
            boolean here = pluginContext.socketPaths().removeStaleSockets(settings.directory());
            boolean there = pluginContext.socketPaths().removeStaleSockets(settings.registry());
            staleSockets = here || there;
        }
    }

    /** Waits until the kubelet has its first list or none is due; false where that took longer. */
    public boolean awaitFirstList(Duration atMost) throws InterruptedException {
        return firstList.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Number of open streams. */
    public int openStreams() {
        return endpoints.values().stream()
                .mapToInt(DevicePluginEndpoint::openStreams)
                .sum();
    }

    /** Why a resource is not registered; empty if all are, or if there is none. */
    public Optional<String> notRegisteredReason() {
        return endpoints.values().stream()
                .flatMap(endpoint -> endpoint.notRegisteredReason().stream())
                .findFirst();
    }

    /** Why a server does not respond; empty if all do. */
    public Optional<String> stuckReason() {
        return endpoints.values().stream()
                .flatMap(endpoint -> endpoint.stuckReason().stream())
                .findFirst();
    }

    /** The socket of a foreign plugin that serves a resource instead; empty if there is none. */
    public String supersededBy() {
        return endpoints.values().stream()
                .map(DevicePluginEndpoint::supersededBy)
                .filter(plugin -> !plugin.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** Removes the sockets for good, so that no client connects to a process that is ending. */
    public void removeSockets() {
        pluginContext.socketPaths().end();
        // A socket that is being opened is bound by the task after the one that began it.
        var bound = new CountDownLatch(1);
        pluginContext
                .loop()
                .execute(() -> pluginContext.loop().execute(() -> {
                    pluginContext.socketPaths().end();
                    bound.countDown();
                }));
        try {
            boolean _ = bound.await(LOOP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized void close() {
        if (watch != null) {
            watch.close();
        }
        if (checkTimer != null) {
            checkTimer.cancel(false);
        }
        endpoints.values().forEach(DevicePluginEndpoint::close);
    }
}
