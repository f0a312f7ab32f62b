package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationMode;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings.RegistrationTransport;
import io.gpufleet.testbed.testkit.FakeForeignPlugin;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** For how long all else of a start waits for the kubelet's first list. */
@Timeout(60)
class FirstListIT {
    private static final Map<String, Integer> GPUS = Map.of("nvidia.com/gpu", 2);
    private static final Duration EVER = Duration.ofDays(1);

    @Test
    void listThatIsDueIsAwaited() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            // Given that the devices are not scanned yet
            assertThat(node.devicePlugins().awaitFirstList(Duration.ofMillis(50)))
                    .isFalse();

            node.publish(GPUS);

            assertThat(node.devicePlugins().awaitFirstList(EVER)).isTrue();
            node.awaitAllocatable("nvidia.com/gpu", 2);
        }
    }

    @Test
    void kubeletThatDoesNotAnswerYetIsAwaited() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            Path socket = node.kubelet().devicePluginDirectory().resolve("kubelet.sock");
            node.kubelet().stop();
            try (var _ =
                    ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket))) {
                node.publish(GPUS);

                assertThat(node.devicePlugins().awaitFirstList(Duration.ofMillis(500)))
                        .isFalse();
            }
        }
    }

    @Test
    void nodeWithoutGpusAwaitsNone() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            node.publish(Map.of());

            assertThat(node.devicePlugins().awaitFirstList(EVER)).isTrue();
        }
    }

    @Test
    void nodeWithoutKubeletAwaitsNone() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT)) {
            node.kubelet().stop();

            node.publish(GPUS);

            assertThat(node.devicePlugins().awaitFirstList(EVER)).isTrue();
        }
    }

    @Test
    void daemonThatDoesNotRegisterAwaitsNone() throws Exception {
        var off = new RegistrationSettings(RegistrationMode.OFF, RegistrationTransport.DEVICE_PLUGINS);
        try (var node = DevicePluginFixture.with(off)) {
            node.publish(GPUS);

            assertThat(node.devicePlugins().awaitFirstList(EVER)).isTrue();
        }
    }

    @Test
    void daemonThatDefersToAnotherPluginAwaitsNone() throws Exception {
        try (var node = DevicePluginFixture.with(RegistrationSettings.DEFAULT);
                var _ = FakeForeignPlugin.register(node.kubelet().devicePluginDirectory(), "nvidia.com/gpu", 2)) {
            node.publish(GPUS);

            assertThat(node.devicePlugins().awaitFirstList(EVER)).isTrue();
        }
    }
}
