package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.app.DoctorFinding.Status;
import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class KubeletCheckTest {
    @TempDir
    private Path directory;

    private static ServerSocketChannel listen(Path socket) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
    }

    private List<Status> grades(Path plugins) {
        return check(plugins, RegistrationSettings.DEFAULT).examine(directory.resolve("pods.sock")).stream()
                .map(DoctorFinding::status)
                .toList();
    }

    private KubeletCheck check(Path plugins, RegistrationSettings settings) {
        return new KubeletCheck(
                plugins, directory.resolve("registry"), settings, new KubeletRoots(directory, directory));
    }

    @Test
    void onlyTheConfiguredTransportIsChecked() throws IOException {
        var registry = new RegistrationSettings(
                RegistrationSettings.RegistrationMode.AUTO,
                RegistrationSettings.RegistrationTransport.PLUGINS_REGISTRY);
        var off = new RegistrationSettings(
                RegistrationSettings.RegistrationMode.OFF, RegistrationSettings.RegistrationTransport.DEVICE_PLUGINS);
        Path pods = directory.resolve("pods.sock");
        assertThat(check(directory, registry).examine(pods).getFirst().remedy())
                .contains("GPUFLEET_PLUGINS_REGISTRY_DIR");
        Files.createDirectory(directory.resolve("registry"));
        assertThat(check(directory, registry).examine(pods).getFirst().status()).isEqualTo(Status.OK);

        try (var _ = listen(directory.resolve("nvidia-gpu.sock"))) {
            assertThat(check(directory, off).examine(pods))
                    .extracting(DoctorFinding::status)
                    .containsExactly(Status.OK, Status.OK, Status.WARN);
        }
    }

    @Test
    @Timeout(30)
    void pluginThatAcceptsNoConnectionIsServedAndBlocksNobody() throws IOException {
        Path socket = directory.resolve("nvidia-gpu.sock");
        var waiting = new ArrayList<SocketChannel>();
        try (var _ =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket), 1)) {
            // Given a full queue of connections
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            var client = SocketChannel.open(StandardProtocolFamily.UNIX);
                            waiting.add(client);
                            client.configureBlocking(false);
                            client.connect(UnixDomainSocketAddress.of(socket));
                        }
                    })
                    .isInstanceOf(SocketException.class);

            assertThat(DevicePluginsDirectory.isServed(socket)).isTrue();
        } finally {
            for (SocketChannel client : waiting) {
                client.close();
            }
        }
        assertThat(DevicePluginsDirectory.isServed(socket)).isFalse();
    }

    @Test
    void socketsAndForeignPluginAreChecked() throws IOException {
        // Given nothing, then a stale socket of a kubelet
        assertThat(grades(directory.resolve("nowhere"))).containsExactly(Status.FAIL, Status.OK, Status.WARN);
        assertThat(grades(directory)).containsExactly(Status.FAIL, Status.OK, Status.WARN);
        Path kubelet = directory.resolve("kubelet.sock");
        listen(kubelet).close();
        assertThat(check(directory, RegistrationSettings.DEFAULT)
                        .examine(kubelet)
                        .getFirst()
                        .found())
                .endsWith("does not respond");

        // When all sockets respond
        Files.delete(kubelet);
        try (var _ = listen(kubelet);
                var _ = listen(directory.resolve("pods.sock"))) {
            assertThat(grades(directory)).containsExactly(Status.OK, Status.OK, Status.OK);

            // And a foreign plugin does
            try (var _ = listen(directory.resolve("nvidia-gpu.sock"))) {
                DoctorFinding foreign = check(directory, RegistrationSettings.DEFAULT)
                        .examine(kubelet)
                        .get(1);
                assertThat(foreign.status()).isEqualTo(Status.WARN);
                assertThat(foreign.found()).startsWith("nvidia-gpu.sock is alive");
            }
        }
    }
}
