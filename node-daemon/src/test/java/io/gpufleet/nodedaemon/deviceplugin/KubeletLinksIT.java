package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.compose.kubelet.ResourceView;
import io.gpufleet.nodedaemon.model.KubeletManners;
import io.gpufleet.nodedaemon.model.KubeletManners.Plugin;
import io.gpufleet.nodedaemon.model.KubeletManners.Way;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Several resources, one kubelet, whatever it does. */
class KubeletLinksIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final String SLICES = "nvidia.com/mig-1g.5gb";

    private static long watches() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("watch-device-plugins"))
                .count();
    }

    private static List<Path> files(Path directory) throws Exception {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().startsWith("gpufleet-"))
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void everyResourceRegistersOnceAndComesBackWithTheKubelet(Way way) throws Exception {
        try (var node = LinkedKubelet.with(new KubeletManners(Plugin.AUTO, way))) {
            node.show(Map.of(GPUS, 2, SLICES, 14));

            node.awaitAllocatable(GPUS, 2);
            node.awaitAllocatable(SLICES, 14);
            assertThat(watches()).isEqualTo(1);
            assertThat(node.kubelet().allocate("ns", "a", "main", SLICES, 1).deviceIds())
                    .singleElement()
                    .asString()
                    .startsWith(SLICES);

            node.kubelet().restart();

            node.awaitAllocatable(GPUS, 2);
            node.awaitAllocatable(SLICES, 14);
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(2);
            assertThat(node.kubelet().registrations(SLICES)).isEqualTo(2);
            await().until(() -> node.links().notRegistered().isEmpty());
            // Never both doors: each socket lies in one directory only, one for each resource
            Path here = way == Way.DEVICE_PLUGINS
                    ? node.kubelet().devicePluginDirectory()
                    : node.kubelet().pluginsRegistryDirectory();
            Path there = way == Way.DEVICE_PLUGINS
                    ? node.kubelet().pluginsRegistryDirectory()
                    : node.kubelet().devicePluginDirectory();
            assertThat(files(here)).hasSize(2);
            assertThat(files(there)).isEmpty();
        }
    }

    @Test
    void resourceThatEmptiesStaysRegisteredWithAnEmptyList() throws Exception {
        try (var node = LinkedKubelet.with(KubeletManners.USUAL)) {
            node.show(Map.of(GPUS, 1, SLICES, 7));
            node.awaitAllocatable(SLICES, 7);

            // When MIG is taken away from the GPU
            node.show(Map.of(GPUS, 2));

            // Then the kubelet is told so over the stream that it has
            node.awaitAllocatable(SLICES, 0);
            node.awaitAllocatable(GPUS, 2);
            assertThat(node.kubelet().resource(SLICES).orElseThrow())
                    .isEqualTo(new ResourceView(SLICES, true, List.of(), List.of()));

            // When it is partitioned again, another way
            node.show(Map.of(GPUS, 1, SLICES, 3));

            // Then nothing registers anew
            node.awaitAllocatable(SLICES, 3);
            assertThat(node.kubelet().registrations(SLICES)).isEqualTo(1);
            assertThat(node.links().openStreams()).isEqualTo(2);
        }
    }

    @Test
    void kubeletThatEndsAStreamIsAskedAgain() throws Exception {
        try (var node = LinkedKubelet.with(new KubeletManners(Plugin.AUTO, Way.PLUGINS_REGISTRY))) {
            node.show(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);
            Path first = files(node.kubelet().pluginsRegistryDirectory()).getFirst();

            // When the socket goes, by which this kubelet knows the plugin
            Files.delete(first);

            // Then it gets another one, under another name
            await().until(() -> node.kubelet().registrations(GPUS) == 2);
            node.awaitAllocatable(GPUS, 2);
            assertThat(files(node.kubelet().pluginsRegistryDirectory()))
                    .hasSize(1)
                    .doesNotContain(first);
        }
    }

    @Test
    void restartIsNoticedWithoutInotify() throws Exception {
        try (var node = LinkedKubelet.withoutInotify()) {
            node.show(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);

            node.kubelet().restart();

            await().until(() -> node.kubelet().registrations(GPUS) == 2);
            node.awaitAllocatable(GPUS, 2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia-gpu.sock", "nvidiaGPU-1700000000.sock"})
    void livePluginOfSomebodyElseIsWaitedFor(String name) throws Exception {
        try (var node = LinkedKubelet.with(KubeletManners.USUAL)) {
            Path socket = node.kubelet().devicePluginDirectory().resolve(name);
            try (var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                foreign.bind(UnixDomainSocketAddress.of(socket));
                node.show(Map.of(GPUS, 2));

                // Then nothing is wrong, and the kubelet is not bothered
                await().until(() -> node.links().yieldsTo().equals(name));
                assertThat(node.links().notRegistered()).isEmpty();
                assertThat(node.kubelet().registrations(GPUS)).isZero();
            }

            // When it goes
            Files.delete(socket);

            node.awaitAllocatable(GPUS, 2);
            assertThat(node.links().yieldsTo()).isEmpty();
        }
    }

    @Test
    void pluginThatComesLaterHasTheResourceUntilItGoes() throws Exception {
        try (var node = LinkedKubelet.with(KubeletManners.USUAL)) {
            node.show(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);

            try (var _ = ForeignPlugin.register(node.vertx(), node.kubelet().devicePluginDirectory(), GPUS, 3)) {
                await().until(() -> node.links().yieldsTo().equals(ForeignPlugin.SOCKET));
                assertThat(node.links().notRegistered()).isEmpty();

                // When our devices change meanwhile
                node.show(Map.of(GPUS, 1));

                // Then neither a list of ours nor the end of our stream disturbs the other
                assertThat(node.kubelet()
                                .allocate("ns", "a", "main", GPUS, 1)
                                .deviceIds()
                                .getFirst())
                        .doesNotStartWith(GPUS);
                assertThat(node.allocatable(GPUS)).isEqualTo(3);
                assertThat(node.links().openStreams()).isEqualTo(1);
                assertThat(node.kubelet().registrations(GPUS)).isEqualTo(2);
            }

            // When it goes, then the resource is ours again, as it is now
            node.awaitAllocatable(GPUS, 1);
            assertThat(node.links().yieldsTo()).isEmpty();
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(3);
            assertThat(node.links().openStreams()).isEqualTo(1);
        }
    }

    @Test
    void whoIsToldToRegistersBesideAnotherPlugin() throws Exception {
        try (var node = LinkedKubelet.with(new KubeletManners(Plugin.ON, Way.DEVICE_PLUGINS));
                var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            foreign.bind(UnixDomainSocketAddress.of(
                    node.kubelet().devicePluginDirectory().resolve("nvidia-gpu.sock")));
            node.show(Map.of(GPUS, 2));

            node.awaitAllocatable(GPUS, 2);
        }
    }

    @Test
    void whoIsToldNotToRegisterOnlyObserves() throws Exception {
        try (var node = LinkedKubelet.with(new KubeletManners(Plugin.OFF, Way.DEVICE_PLUGINS))) {
            node.show(Map.of(GPUS, 2));

            // Then the kubelet's book is watched all the same
            await().until(() -> {
                Files.writeString(node.kubelet().devicePluginDirectory().resolve("kubelet_internal_checkpoint"), "{}");
                return node.checkpointsTold() > 0;
            });
            assertThat(node.links().notRegistered()).isEmpty();
            assertThat(node.kubelet().resource(GPUS)).isEmpty();
            assertThat(files(node.kubelet().devicePluginDirectory())).isEmpty();
        }
    }
}
