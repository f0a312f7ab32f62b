package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PluginWarmUpIT {
    private final Queue<NodeLoopInput> inputs = new ConcurrentLinkedQueue<>();
    private final AllocationHandler handler = new AllocationHandler(
            new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.NONE),
            () -> TestGpus.second(0),
            new DaemonCounters(),
            inputs::add);

    private EventLoop loop;
    private Path directory;

    @BeforeEach
    void open() throws IOException {
        loop = EventLoops.open("warm-up");
        // The path of a socket has at most 107 bytes.
        directory = SocketDirectory.create();
    }

    @AfterEach
    void close() throws IOException {
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        Files.delete(directory);
    }

    @Test
    void callsAreAnsweredAndLeaveNothingBehind() {
        // Given
        handler.lists(Map.of(ResourcePlan.GPU, new DeviceList(1, List.of(TestGpus.offer(0, true, "")))), 1);
        // When
        int answered = new PluginWarmUp(loop, directory, () -> TestGpus.second(0))
                .run(handler)
                .toCompletableFuture()
                .join();
        // Then
        assertThat(answered).isEqualTo(PluginWarmUp.ROUNDS);
        assertThat(directory).isEmptyDirectory();
        assertThat(inputs).as("allocations that are published").isEmpty();
    }

    @Test
    void nothingIsCalledWithoutDevices() {
        assertThat(new PluginWarmUp(loop, directory, () -> TestGpus.second(0))
                        .run(handler)
                        .toCompletableFuture()
                        .join())
                .isZero();
    }
}
