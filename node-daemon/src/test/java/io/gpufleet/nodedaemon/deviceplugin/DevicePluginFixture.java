package io.gpufleet.nodedaemon.deviceplugin;

import static org.awaitility.Awaitility.await;

import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The endpoints of a daemon with a fake kubelet. */
final class DevicePluginFixture implements AutoCloseable {
    private final Vertx vertx =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(3));
    private final EventLoop loop = EventLoops.open("kubelet");
    private final AtomicInteger checkpointChanges = new AtomicInteger();
    private final Path directory;
    private final AllocationHandler allocationHandler;
    private final DevicePluginEndpoints devicePlugins;
    private final FakeKubelet kubelet;
    private long version;

    private DevicePluginFixture(RegistrationSettings settings, DirectoryWatch.WatchServiceFactory notifier)
            throws IOException {
        // The path of a socket has at most 107 bytes.
        this.directory = SocketDirectory.create();
        this.kubelet = FakeKubelet.start(vertx, directory);
        this.allocationHandler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> TestGpus.second(0),
                new DaemonCounters(),
                _ -> {});
        this.devicePlugins = new DevicePluginEndpoints(
                loop,
                new DevicePluginEndpoints.KubeletConnectionSettings(
                        kubelet.devicePluginDirectory(),
                        kubelet.pluginsRegistryDirectory(),
                        settings,
                        System.currentTimeMillis(),
                        notifier,
                        checkpointChanges::incrementAndGet),
                allocationHandler,
                new DaemonCounters(),
                System::nanoTime);
    }

    static DevicePluginFixture with(RegistrationSettings settings) throws IOException {
        return new DevicePluginFixture(settings, () -> FileSystems.getDefault().newWatchService());
    }

    static DevicePluginFixture withoutInotify() throws IOException {
        return new DevicePluginFixture(RegistrationSettings.DEFAULT, () -> {
            // The JDK's message when inotify_init fails with EMFILE.
            throw new IOException("User limit of inotify instances reached or too many open files");
        });
    }

    FakeKubelet kubelet() {
        return kubelet;
    }

    Vertx vertx() {
        return vertx;
    }

    DevicePluginEndpoints devicePlugins() {
        return devicePlugins;
    }

    int checkpointChangeCount() {
        return checkpointChanges.get();
    }

    /** Publishes a list of GPUs with so many healthy ones for each resource; other resources are removed. */
    void publish(Map<String, Integer> healthy) {
        version++;
        var lists = new TreeMap<String, DeviceList>();
        healthy.forEach((resource, count) -> {
            var offers = new java.util.ArrayList<OfferedDevice>();
            for (int i = 0; i < count; i++) {
                OfferedDevice gpu = TestGpus.offer(i, true, "");
                offers.add(new OfferedDevice(
                        resource + "-" + i,
                        gpu.gpu(),
                        gpu.partition(),
                        resource,
                        1,
                        new OfferedDevice.Health(true, true, false, "")));
            }
            lists.put(resource, new DeviceList(version, offers));
        });
        allocationHandler.lists(lists, version);
        devicePlugins.publish(lists);
    }

    /** Publishes healthy replicas with the ids that a kubelet sees. */
    void publishReplicas(String resource, int gpus, int replicas) {
        version++;
        var offers = new java.util.ArrayList<OfferedDevice>();
        for (int gpu = 0; gpu < gpus; gpu++) {
            OfferedDevice device = TestGpus.offer(gpu, true, "");
            for (int replica = 0; replica < replicas; replica++) {
                offers.add(new OfferedDevice(
                        "GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16" + gpu + "::" + replica,
                        device.gpu(),
                        device.partition(),
                        resource,
                        replicas,
                        device.health()));
            }
        }
        Map<String, DeviceList> lists = Map.of(resource, new DeviceList(version, offers));
        allocationHandler.lists(lists, version);
        devicePlugins.publish(lists);
    }

    /** Applies settings as the daemon does: to the calls, then to the lists. */
    void apply(PluginSettings settings) {
        allocationHandler.allocator(new AllocationTableFactory(settings, HostDeviceNodes.NONE));
        devicePlugins.publish(Map.of());
    }

    int allocatable(String resource) {
        return kubelet.resource(resource).map(AdvertisedResource::allocatable).orElse(-1);
    }

    void awaitAllocatable(String resource, int count) {
        await().until(() -> allocatable(resource) == count);
    }

    @Override
    public void close() {
        devicePlugins.close();
        kubelet.close();
        vertx.close().await();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
