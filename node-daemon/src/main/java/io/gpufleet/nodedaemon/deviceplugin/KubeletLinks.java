package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.app.KubeletFace;
import io.gpufleet.nodedaemon.model.DeviceList;
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

    private final KubeletLink.Surface surface;
    private final KubeletDesk desk;
    private final Runnable checkpointChanged;
    private final PluginDirectory directory;
    private final Map<String, KubeletLink> links = new ConcurrentSkipListMap<>();
    private @Nullable DirectoryWatch watch;

    /**
     * What the links are configured with.
     *
     * @param directory the kubelet's device-plugins directory
     * @param epoch of this start; part of the sockets' names
     * @param checkpointChanged told when the kubelet's checkpoint changed, on any thread
     */
    public record LinkSettings(Path directory, long epoch, Runnable checkpointChanged) {}

    /** Links that do nothing until a list is shown. */
    public KubeletLinks(Vertx vertx, LinkSettings settings, KubeletDesk desk, Counters counters, LongSupplier nanos) {
        this.surface = new KubeletLink.Surface(vertx, settings.directory(), settings.epoch(), counters, nanos);
        this.desk = desk;
        this.checkpointChanged = settings.checkpointChanged();
        this.directory = new PluginDirectory(settings.directory());
    }

    @Override
    public synchronized void show(Map<String, DeviceList> lists) {
        // A node without devices has nothing to register; once registered, even an empty list is a word.
        lists.forEach((resource, list) -> {
            if (!list.devices().isEmpty() && !links.containsKey(resource)) {
                open(resource);
            }
        });
        links.values().forEach(KubeletLink::show);
    }

    private void open(String resource) {
        var link = new KubeletLink(surface, resource, desk.resource(resource));
        links.put(resource, link);
        if (watch == null) {
            watch = new DirectoryWatch(surface.directory(), this::directoryChanged);
        } else {
            link.looked(directory.look());
        }
    }

    private void directoryChanged(Set<String> names) {
        var seen = directory.look();
        links.values().forEach(link -> link.looked(seen));
        if (names.contains(CHECKPOINT)) {
            checkpointChanged.run();
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

    @Override
    public synchronized void close() {
        if (watch != null) {
            watch.close();
        }
        links.values().forEach(KubeletLink::close);
    }
}
