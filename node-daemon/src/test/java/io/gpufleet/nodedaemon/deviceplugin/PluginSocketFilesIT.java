package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationMode;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationTransport;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is left in the kubelet's directories by daemons that were killed, and by one that ends. */
class PluginSocketFilesIT {
    private static final String GPUS = "nvidia.com/gpu";
    /** Of a daemon of another start: the epoch is another one. */
    private static final String EARLIER = "gpufleet-gpu-1700000000000-3.sock";

    private static DevicePluginFixture node(RegistrationTransport transport) throws IOException {
        return DevicePluginFixture.with(new RegistrationSettings(RegistrationMode.AUTO, transport));
    }

    private static List<Path> directories(DevicePluginFixture node) {
        return List.of(node.kubelet().devicePluginDirectory(), node.kubelet().pluginsRegistryDirectory());
    }

    private static ServerSocketChannel listen(Path socket) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
    }

    private static void leaveSocket(Path socket) throws IOException {
        listen(socket).close();
        assertThat(socket).exists();
    }

    private static List<String> ours(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("gpufleet-gpu-"))
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource(RegistrationTransport.class)
    void socketsOfKilledDaemonsAreRemovedWhateverTheTransport(RegistrationTransport transport) throws Exception {
        try (var node = node(transport)) {
            for (Path directory : directories(node)) {
                leaveSocket(directory.resolve(EARLIER));
            }

            // When a daemon starts, even on a node without GPUs
            node.publish(Map.of());

            for (Path directory : directories(node)) {
                await().untilAsserted(() -> assertThat(ours(directory)).isEmpty());
            }
        }
    }

    @Test
    void socketsOfOthersAreLeft() throws Exception {
        try (var node = node(RegistrationTransport.PLUGINS_REGISTRY)) {
            Path directory = node.kubelet().pluginsRegistryDirectory();
            // Given names that are not ours, a file that is no socket, and a socket of ours
            List<Path> others = List.of(
                    directory.resolve("gpufleet-mps.sock"),
                    directory.resolve("nvidia-gpu.sock"),
                    directory.resolve("gpufleet-gpu-latest-1.sock"));
            for (Path other : others) {
                leaveSocket(other);
            }
            Path file = Files.createFile(directory.resolve("gpufleet-gpu-1700000000000-4.sock"));
            Path earlier = directory.resolve(EARLIER);
            leaveSocket(earlier);

            node.publish(Map.of(GPUS, 2));

            await().until(() -> Files.notExists(earlier));
            assertThat(others).allSatisfy(other -> assertThat(other).exists());
            assertThat(file).exists();
            node.awaitAllocatable(GPUS, 2);
        }
    }

    @Test
    void socketOfADaemonThatStillRunsIsRemovedOnceItIsKilled() throws Exception {
        try (var node = node(RegistrationTransport.PLUGINS_REGISTRY)) {
            Path directory = node.kubelet().pluginsRegistryDirectory();
            Path running = directory.resolve(EARLIER);
            Path dead = directory.resolve("gpufleet-gpu-1600000000000-1.sock");
            try (var _ = listen(running)) {
                leaveSocket(dead);
                node.publish(Map.of(GPUS, 2));
                await().until(() -> Files.notExists(dead));
                assertThat(running).exists();
            }

            await().until(() -> Files.notExists(running));
        }
    }

    @ParameterizedTest
    @EnumSource(RegistrationTransport.class)
    void daemonThatEndsOpensNoSocketForAnotherKubelet(RegistrationTransport transport) throws Exception {
        try (var node = node(transport)) {
            node.publish(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);

            node.devicePlugins().removeSockets();

            for (Path directory : directories(node)) {
                assertThat(ours(directory)).isEmpty();
            }
            // When a kubelet starts before the process has ended
            node.kubelet().restart();
            await().until(() ->
                    node.devicePlugins().notRegisteredReason().orElse("").contains("the daemon ends"));
            for (Path directory : directories(node)) {
                assertThat(ours(directory)).isEmpty();
            }
        }
    }

    @Test
    void daemonThatEndsDuringARegistrationLeavesNoSocket() throws Exception {
        for (int attempt = 0; attempt < 20; attempt++) {
            try (var node = node(RegistrationTransport.PLUGINS_REGISTRY)) {
                // When a socket may be about to be opened
                node.publish(Map.of(GPUS, 2));
                node.devicePlugins().removeSockets();

                await().until(() ->
                        node.devicePlugins().notRegisteredReason().orElse("").contains("the daemon ends"));
                assertThat(ours(node.kubelet().pluginsRegistryDirectory())).isEmpty();
            }
        }
    }
}
