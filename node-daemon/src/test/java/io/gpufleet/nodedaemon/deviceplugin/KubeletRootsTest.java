package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.app.DoctorFinding.Status;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says where the overlay has another kubelet's root than the host. */
class KubeletRootsTest {
    private static final String DEFAULT = "/var/lib/kubelet";

    /** The host's root directory, which has below the default root what container runtimes make for mounts. */
    @TempDir
    private Path host;

    @BeforeEach
    void mountedDirectories() throws IOException {
        for (String name : List.of("device-plugins", "plugins_registry", "pod-resources")) {
            Files.createDirectories(local(DEFAULT + "/" + name));
        }
    }

    private Path local(String path) {
        return host.resolve(path.substring(1));
    }

    private ServerSocketChannel listen(String socket) throws IOException {
        Files.createDirectories(local(socket).getParent());
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(local(socket)));
    }

    private List<DoctorFinding> findings(RegistrationTransport transport) {
        return new KubeletCheck(
                        local(DEFAULT + "/device-plugins"),
                        local(DEFAULT + "/plugins_registry"),
                        new RegistrationSettings(RegistrationMode.AUTO, transport),
                        new KubeletRoots(host, local("/proc")))
                .examine(local(DEFAULT + "/pod-resources/kubelet.sock"));
    }

    private List<DoctorFinding> findings() {
        return findings(RegistrationTransport.DEVICE_PLUGINS);
    }

    @Test
    void podResourcesOfK0sAreNamedWithTheComponent() throws IOException {
        // As on k0s with the base: device-plugins is where every kubelet has it
        try (var _ = listen(DEFAULT + "/device-plugins/kubelet.sock");
                var _ = listen("/var/lib/k0s/kubelet/pod-resources/kubelet.sock")) {
            assertThat(findings()).extracting(DoctorFinding::status).containsExactly(Status.OK, Status.OK, Status.FAIL);
            assertThat(findings().getLast().found()).endsWith("listens in /var/lib/k0s/kubelet/pod-resources");
            assertThat(findings().getLast().remedy())
                    .contains("volume pod-resources to /var/lib/k0s/kubelet/pod-resources")
                    .contains("k8s/platforms/k0s");
        }
    }

    @Test
    void kubeletThatListensElsewhereIsNamedBesideADeadSocket() throws IOException {
        listen(DEFAULT + "/device-plugins/kubelet.sock").close();
        try (var _ = listen("/var/snap/microk8s/common/var/lib/kubelet/device-plugins/kubelet.sock")) {
            assertThat(findings().getFirst().status()).isEqualTo(Status.FAIL);
            assertThat(findings().getFirst().found())
                    .contains("does not respond")
                    .endsWith("/var/snap/microk8s/common/var/lib/kubelet/device-plugins");
            assertThat(findings().getFirst().remedy())
                    .startsWith("set the hostPath of the DaemonSet's volume device-plugins to /var/snap/microk8s")
                    .doesNotContain("component");
        }
    }

    @Test
    void registryThatNoKubeletWatchesIsRefused() throws IOException {
        try (var _ = listen("/var/lib/k0s/kubelet/pod-resources/kubelet.sock")) {
            DoctorFinding found =
                    findings(RegistrationTransport.PLUGINS_REGISTRY).getFirst();

            assertThat(found.status()).isEqualTo(Status.FAIL);
            assertThat(found.found()).endsWith("/var/lib/k0s/kubelet/plugins_registry");
            assertThat(found.remedy())
                    .contains("GPUFLEET_PLUGINS_REGISTRY_DIR=/var/lib/k0s/kubelet/plugins_registry")
                    .contains("k8s/platforms/k0s");
        }
    }

    @Test
    void rootThatNobodyKnowsIsReadFromTheSocketsOfTheHost() throws IOException {
        Files.createDirectories(local("/proc/1/net"));
        Files.writeString(local("/proc/1/net/unix"), """
            Num       RefCount Protocol Flags    Type St Inode Path
            ffff9a: 00000002 00000000 00010000 0001 01 25617 /data/kubelet/pod-resources/kubelet.sock
            ffff9b: 00000003 00000000 00000000 0001 03 25618 /connected/pod-resources/kubelet.sock
            ffff9c: 00000002 00000000 00010000 0005 01 1174 /run/udev/control
            ffff9d: 00000002 00000000 00010000 0001 01 1175 @/abstract/pod-resources/kubelet.sock
            ffff9e: 00000003 00000000 00000000 0001 03 25619
            """);
        try (var _ = listen("/data/kubelet/pod-resources/kubelet.sock");
                var _ = listen("/connected/pod-resources/kubelet.sock")) {
            assertThat(findings().getLast().found()).endsWith("listens in /data/kubelet/pod-resources");
        }
    }

    @Test
    void otherPathOfTheSameDirectoryIsNoOtherKubelet() throws IOException {
        // As on MicroK8s, where the default path leads to the snap's
        Path snap = local("/var/snap/microk8s/common/var/lib/kubelet");
        Files.createDirectories(snap.getParent());
        Files.move(local(DEFAULT), snap);
        Files.createSymbolicLink(local(DEFAULT), snap);
        try (var _ = listen(DEFAULT + "/pod-resources/kubelet.sock")) {
            DoctorFinding found =
                    findings(RegistrationTransport.PLUGINS_REGISTRY).getFirst();

            assertThat(found.status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void hostWithoutKubeletIsAWarningAsBefore() {
        assertThat(findings()).extracting(DoctorFinding::status).containsExactly(Status.FAIL, Status.OK, Status.WARN);
        assertThat(findings().getFirst().remedy()).startsWith("start the kubelet");
    }
}
