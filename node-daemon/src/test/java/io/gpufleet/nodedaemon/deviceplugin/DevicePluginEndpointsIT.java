package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationMode;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationTransport;
import io.gpufleet.nodedaemon.model.settings.TestSettings;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.testkit.FakeForeignPlugin;
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

/** Several resources registered with one kubelet that restarts. */
class DevicePluginEndpointsIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final String MIG_INSTANCES = "nvidia.com/mig-1g.5gb";

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
    @EnumSource(RegistrationTransport.class)
    void everyResourceRegistersOncePerKubelet(RegistrationTransport transport) throws Exception {
        try (var node = DevicePluginFixture.with(new RegistrationSettings(RegistrationMode.AUTO, transport))) {
            node.publish(Map.of(GPUS, 2, MIG_INSTANCES, 14));

            node.awaitAllocatable(GPUS, 2);
            node.awaitAllocatable(MIG_INSTANCES, 14);
            assertThat(watches()).isEqualTo(1);
            assertThat(node.kubelet()
                            .allocate("ns", "a", "main", MIG_INSTANCES, 1)
                            .deviceIds())
                    .singleElement()
                    .asString()
                    .startsWith(MIG_INSTANCES);

            node.kubelet().restart();

            node.awaitAllocatable(GPUS, 2);
            node.awaitAllocatable(MIG_INSTANCES, 14);
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(2);
            assertThat(node.kubelet().registrations(MIG_INSTANCES)).isEqualTo(2);
            await().until(() -> node.devicePlugins().notRegisteredReason().isEmpty());
            // One transport only: there is one socket per resource, in one of the directories
            Path here = transport == RegistrationTransport.DEVICE_PLUGINS
                    ? node.kubelet().devicePluginDirectory()
                    : node.kubelet().pluginsRegistryDirectory();
            Path there = transport == RegistrationTransport.DEVICE_PLUGINS
                    ? node.kubelet().pluginsRegistryDirectory()
                    : node.kubelet().devicePluginDirectory();
            assertThat(files(here)).hasSize(2);
            assertThat(files(there)).isEmpty();
        }
    }

    @Test
    void resourceWithoutDevicesStaysRegisteredWithAnEmptyList() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            node.publish(Map.of(GPUS, 1, MIG_INSTANCES, 7));
            node.awaitAllocatable(MIG_INSTANCES, 7);

            // When MIG is disabled
            node.publish(Map.of(GPUS, 2));

            // Then the existing stream gets an empty list
            node.awaitAllocatable(MIG_INSTANCES, 0);
            node.awaitAllocatable(GPUS, 2);
            assertThat(node.kubelet().resource(MIG_INSTANCES).orElseThrow())
                    .isEqualTo(new AdvertisedResource(MIG_INSTANCES, true, List.of(), List.of()));

            // When it is partitioned again with another layout
            node.publish(Map.of(GPUS, 1, MIG_INSTANCES, 3));

            // Then no resource registers again
            node.awaitAllocatable(MIG_INSTANCES, 3);
            assertThat(node.kubelet().registrations(MIG_INSTANCES)).isEqualTo(1);
            assertThat(node.devicePlugins().openStreams()).isEqualTo(2);
        }
    }

    @Test
    void eightGpusWithThousandReplicasEachAreListedAndAllocated() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            // Given a list and requests of 376 KB
            node.publishReplicas(GPUS, 8, 1_000);
            node.awaitAllocatable(GPUS, 8_000);

            // When a kubelet asks which of all to take, and when it takes all the others
            var first = node.kubelet().allocate("ns", "a", "main", GPUS, 1);
            var others = node.kubelet().allocate("ns", "b", "main", GPUS, 7_999);

            assertThat(first.deviceIds()).hasSize(1);
            assertThat(others.deviceIds()).hasSize(7_999);
        }
    }

    @Test
    void changeOfPreStartRegistersAgain() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            node.publish(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);

            // When the kubelet must call PreStartContainer, which it knows from its registration only
            node.apply(TestSettings.preStart());

            await().until(() -> node.kubelet().registrations(GPUS) == 2);
            node.awaitAllocatable(GPUS, 2);

            // Other settings do not
            node.apply(TestSettings.preStart());
            node.publish(Map.of(GPUS, 1));
            node.awaitAllocatable(GPUS, 1);
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(2);
        }
    }

    @Test
    void endedStreamLeadsToAnotherRegistration() throws Exception {
        try (var node = DevicePluginFixture.with(
                new RegistrationSettings(RegistrationMode.AUTO, RegistrationTransport.PLUGINS_REGISTRY))) {
            node.publish(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);
            Path first = files(node.kubelet().pluginsRegistryDirectory()).getFirst();

            // When the socket is deleted by which this kubelet knows the plugin
            Files.delete(first);

            // Then another one is served with another name
            await().until(() -> node.kubelet().registrations(GPUS) == 2);
            node.awaitAllocatable(GPUS, 2);
            assertThat(files(node.kubelet().pluginsRegistryDirectory()))
                    .hasSize(1)
                    .doesNotContain(first);
        }
    }

    @Test
    void restartIsNoticedWithoutInotify() throws Exception {
        try (var node = DevicePluginFixture.withoutInotify()) {
            node.publish(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);

            node.kubelet().restart();

            await().until(() -> node.kubelet().registrations(GPUS) == 2);
            node.awaitAllocatable(GPUS, 2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia-gpu.sock", "nvidiaGPU-1700000000.sock"})
    void registrationIsDeferredToALiveForeignPlugin(String name) throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            Path socket = node.kubelet().devicePluginDirectory().resolve(name);
            try (var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                foreign.bind(UnixDomainSocketAddress.of(socket));
                node.publish(Map.of(GPUS, 2));

                // Then the endpoint is ready, and does not register
                await().until(() -> node.devicePlugins().supersededBy().equals(name));
                assertThat(node.devicePlugins().notRegisteredReason()).isEmpty();
                assertThat(node.kubelet().registrations(GPUS)).isZero();
            }

            // When it ends
            Files.delete(socket);

            node.awaitAllocatable(GPUS, 2);
            assertThat(node.devicePlugins().supersededBy()).isEmpty();
        }
    }

    @Test
    void pluginThatRegistersLaterServesTheResourceUntilItEnds() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            node.publish(Map.of(GPUS, 2));
            node.awaitAllocatable(GPUS, 2);

            try (var _ = FakeForeignPlugin.register(node.kubelet().devicePluginDirectory(), GPUS, 3)) {
                await().until(() -> node.devicePlugins().supersededBy().equals(FakeForeignPlugin.SOCKET));
                assertThat(node.devicePlugins().notRegisteredReason()).isEmpty();

                // When our devices change meanwhile
                node.publish(Map.of(GPUS, 1));

                // Then the other is disturbed neither by a list of ours nor by the end of our stream
                node.awaitAllocatable(GPUS, 3);
                assertThat(node.kubelet()
                                .allocate("ns", "a", "main", GPUS, 1)
                                .deviceIds()
                                .getFirst())
                        .doesNotStartWith(GPUS);
                assertThat(node.allocatable(GPUS)).isEqualTo(3);
                assertThat(node.devicePlugins().openStreams()).isEqualTo(1);
                assertThat(node.kubelet().registrations(GPUS)).isEqualTo(2);
            }

            // When it ends, then the resource is ours again, as it is now
            node.awaitAllocatable(GPUS, 1);
            assertThat(node.devicePlugins().supersededBy()).isEmpty();
            assertThat(node.kubelet().registrations(GPUS)).isEqualTo(3);
            await().until(() -> node.devicePlugins().openStreams() == 1);
        }
    }

    @Test
    void forcedRegistrationIgnoresAForeignPlugin() throws Exception {
        try (var node = DevicePluginFixture.with(
                        new RegistrationSettings(RegistrationMode.ON, RegistrationTransport.DEVICE_PLUGINS));
                var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            foreign.bind(UnixDomainSocketAddress.of(
                    node.kubelet().devicePluginDirectory().resolve("nvidia-gpu.sock")));
            node.publish(Map.of(GPUS, 2));

            node.awaitAllocatable(GPUS, 2);
        }
    }

    @Test
    void disabledRegistrationOnlyObserves() throws Exception {
        try (var node = DevicePluginFixture.with(
                new RegistrationSettings(RegistrationMode.OFF, RegistrationTransport.DEVICE_PLUGINS))) {
            node.publish(Map.of(GPUS, 2));

            // Then the kubelet's checkpoint is still watched
            await().until(() -> {
                Files.writeString(node.kubelet().devicePluginDirectory().resolve("kubelet_internal_checkpoint"), "{}");
                return node.checkpointChangeCount() > 0;
            });
            assertThat(node.devicePlugins().notRegisteredReason()).isEmpty();
            assertThat(node.kubelet().resource(GPUS)).isEmpty();
            assertThat(files(node.kubelet().devicePluginDirectory())).isEmpty();
        }
    }
}
