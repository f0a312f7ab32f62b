package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.app.KubeletFace;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.KubeletManners;
import io.gpufleet.nodedaemon.model.KubeletManners.Plugin;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** One link to the kubelet for each resource, and one watch of its directory for all of them. */
public final class KubeletLinks implements KubeletFace, AutoCloseable {
    private static final String CHECKPOINT = "kubelet_internal_checkpoint";
    private static final long CHECK_MILLIS = 10_000;

    private final LinkSettings settings;
    private final KubeletLink.Surface surface;
    private final KubeletDesk desk;
    private final Map<String, KubeletLink> links = new ConcurrentSkipListMap<>();
    private @Nullable DirectoryWatch watch;
    private long checks = -1;
    /** Of the thread that watches the directory alone. */
    private boolean foreignMoved;

    /**
     * What the links are configured with.
     *
     * @param directory the kubelet's device-plugins directory
     * @param registry the kubelet's plugins_registry directory, used only where the manners say so
     * @param epoch of this start; part of the sockets' names
     * @param notifier tells of changes in the directory
     * @param checkpointChanged told when the kubelet's checkpoint changed, on any thread
     */
    public record LinkSettings(
            Path directory,
            Path registry,
            KubeletManners manners,
            long epoch,
            DirectoryWatch.Notifier notifier,
            Runnable checkpointChanged) {
        /** The usual manners, and the kernel as notifier. */
        public LinkSettings(Path directory, long epoch, Runnable checkpointChanged) {
            this(
                    directory,
                    directory.resolveSibling("plugins_registry"),
                    KubeletManners.USUAL,
                    epoch,
                    () -> directory.getFileSystem().newWatchService(),
                    checkpointChanged);
        }
    }

    /** Links that do nothing until a list is shown. */
    public KubeletLinks(Vertx vertx, LinkSettings settings, KubeletDesk desk, Counters counters, LongSupplier nanos) {
        Path ours = switch (settings.manners().way()) {
            case DEVICE_PLUGINS -> settings.directory();
            case PLUGINS_REGISTRY -> settings.registry();
        };
        this.settings = settings;
        this.surface = new KubeletLink.Surface(
                vertx,
                new PluginDirectory(settings.directory()),
                new OwnSockets(ours, settings.epoch()),
                settings.manners(),
                counters,
                nanos);
        this.desk = desk;
    }

    @Override
    public synchronized void show(Map<String, DeviceList> lists) {
        if (settings.manners().plugin() != Plugin.OFF) {
            // A node without devices has nothing to register; once registered, even an empty list is a word.
            lists.forEach((resource, list) -> {
                if (!list.devices().isEmpty() && !links.containsKey(resource)) {
                    open(resource);
                }
            });
        }
        if (watch == null) {
            watch = new DirectoryWatch(settings.directory(), this::directoryChanged, settings.notifier());
            checks = surface.vertx()
                    .setPeriodic(CHECK_MILLIS, _ -> links.values().forEach(KubeletLink::check));
        }
        links.values().forEach(KubeletLink::show);
    }

    private void open(String resource) {
        if (links.isEmpty()) {
            surface.own().removeLeftovers();
        }
        var link = new KubeletLink(surface, resource, desk.resource(resource));
        links.put(resource, link);
        link.looked(surface.directory().look());
    }

    private void directoryChanged(Set<String> names) {
        var seen = surface.directory().look();
        links.values().forEach(link -> link.looked(seen));
        boolean foreign = names.stream().anyMatch(PluginDirectory::isForeign);
        // A socket is there before anybody answers on it: the next turn, a second later at most, looks once more.
        if (foreign || foreignMoved) {
            links.values().forEach(KubeletLink::foreignMoved);
        }
        foreignMoved = foreign;
        if (names.contains(CHECKPOINT)) {
            settings.checkpointChanged().run();
        }
    }

    /** Streams that are open now. */
    public int openStreams() {
        return links.values().stream().mapToInt(KubeletLink::openStreams).sum();
    }

    /** Why the kubelet does not have our devices; empty when it does, or when there is nothing to register. */
    public Optional<String> notRegistered() {
        return links.values().stream()
                .flatMap(link -> link.notRegistered().stream())
                .findFirst();
    }

    /** Why the kubelet can not be answered; empty when it can. */
    public Optional<String> stuckServer() {
        return links.values().stream().flatMap(link -> link.stuck().stream()).findFirst();
    }

    /** The socket of the plugin because of which we do not register; empty where there is none. */
    public String yieldsTo() {
        return links.values().stream()
                .map(KubeletLink::yieldsTo)
                .filter(plugin -> !plugin.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** Removes our sockets, so that nobody comes to a process that ends; returns at once. */
    public void leave() {
        links.values().forEach(KubeletLink::leave);
    }

    @Override
    public synchronized void close() {
        if (watch != null) {
            watch.close();
        }
        surface.vertx().cancelTimer(checks);
        links.values().forEach(KubeletLink::close);
    }
}
