package io.gpufleet.nodedaemon.deviceplugin;

import static org.awaitility.Awaitility.await;

import io.gpufleet.compose.kubelet.ResourceView;
import io.gpufleet.compose.kubelet.StandInKubelet;
import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.KubeletManners;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Links as a daemon has them, and a stand-in kubelet for their other side. */
final class LinkedKubelet implements AutoCloseable {
    private final Vertx vertx =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(3));
    private final AtomicInteger checkpoints = new AtomicInteger();
    private final Path directory;
    private final KubeletDesk desk;
    private final KubeletLinks links;
    private final StandInKubelet kubelet;
    private long version;

    private LinkedKubelet(KubeletManners manners, DirectoryWatch.Notifier notifier) throws IOException {
        // A socket's path has 107 bytes at most.
        this.directory = Files.createTempDirectory("k");
        this.kubelet = StandInKubelet.start(vertx, directory);
        this.desk = new KubeletDesk(
                new Allocator(PluginSettings.STANDARD, HostNodes.of(List.of())),
                () -> Some.second(0),
                new Counters(),
                _ -> {});
        this.links = new KubeletLinks(
                vertx,
                new KubeletLinks.LinkSettings(
                        kubelet.devicePluginDirectory(),
                        kubelet.pluginsRegistryDirectory(),
                        manners,
                        System.currentTimeMillis(),
                        notifier,
                        checkpoints::incrementAndGet),
                desk,
                new Counters(),
                System::nanoTime);
    }

    static LinkedKubelet with(KubeletManners manners) throws IOException {
        return new LinkedKubelet(manners, () -> FileSystems.getDefault().newWatchService());
    }

    static LinkedKubelet withoutInotify() throws IOException {
        return new LinkedKubelet(KubeletManners.USUAL, () -> {
            // The words of the JDK where inotify_init answers EMFILE.
            throw new IOException("User limit of inotify instances reached or too many open files");
        });
    }

    StandInKubelet kubelet() {
        return kubelet;
    }

    Vertx vertx() {
        return vertx;
    }

    KubeletLinks links() {
        return links;
    }

    int checkpointsTold() {
        return checkpoints.get();
    }

    /** Puts a list of whole GPUs in force for each resource, so many healthy ones; a resource not named is gone. */
    void show(Map<String, Integer> healthy) {
        version++;
        var lists = new TreeMap<String, DeviceList>();
        healthy.forEach((resource, count) -> {
            var offers = new java.util.ArrayList<Offer>();
            for (int i = 0; i < count; i++) {
                Offer gpu = Some.offer(i, true, "");
                offers.add(new Offer(resource + "-" + i, gpu.gpu(), gpu.part(), resource, 1, true, true, false, ""));
            }
            lists.put(resource, new DeviceList(version, offers));
        });
        desk.lists(lists, version);
        links.show(lists);
    }

    int allocatable(String resource) {
        return kubelet.resource(resource).map(ResourceView::allocatable).orElse(-1);
    }

    void awaitAllocatable(String resource, int count) {
        await().until(() -> allocatable(resource) == count);
    }

    @Override
    public void close() {
        links.close();
        kubelet.close();
        vertx.close().await();
    }
}
