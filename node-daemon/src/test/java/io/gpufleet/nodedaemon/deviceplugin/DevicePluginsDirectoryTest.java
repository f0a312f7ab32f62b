package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DevicePluginsDirectoryTest {
    @TempDir
    private Path directory;

    @Test
    void socketThatIsRecreatedHasAnotherIdentity() throws IOException {
        Path socket = Files.createFile(directory.resolve("kubelet.sock"));
        KubeletSocket before = new DevicePluginsDirectory(directory).readKubeletSocket();
        Files.createFile(directory.resolve("other"));
        Files.move(directory.resolve("other"), socket, StandardCopyOption.REPLACE_EXISTING);

        assertThat(new DevicePluginsDirectory(directory).readKubeletSocket())
                .isInstanceOf(KubeletSocket.Present.class)
                .isNotEqualTo(before);
    }

    /** What a reading finds that has the file already when it is deleted: here by a link to its open descriptor. */
    @Test
    void socketThatIsDeletedWhileItIsReadIsAbsent() throws IOException {
        Path deleted = directory.resolve("deleted");
        try (FileChannel open = FileChannel.open(deleted, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            Path descriptor = descriptorOf(deleted);
            Files.delete(deleted);
            Files.createSymbolicLink(directory.resolve("kubelet.sock"), descriptor);

            assertThat(open.isOpen()).isTrue();
            assertThat(new DevicePluginsDirectory(directory).readKubeletSocket())
                    .isEqualTo(new KubeletSocket.Absent());
        }
    }

    private static Path descriptorOf(Path file) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .filter(one -> {
                        try {
                            return Files.readSymbolicLink(one).equals(file.toRealPath());
                        } catch (IOException closed) {
                            return false;
                        }
                    })
                    .findFirst()
                    .orElseThrow();
        }
    }
}
