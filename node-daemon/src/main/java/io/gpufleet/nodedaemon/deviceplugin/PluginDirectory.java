package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.KubeletSocket;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Optional;

/** The kubelet's device-plugins directory, as it is on the disk now. */
final class PluginDirectory {
    /** NVIDIA's {@code nvidia-gpu.sock}, Google's {@code nvidiaGPU-1700000000.sock}. */
    private static final String FOREIGN = "nvidia*.sock";

    private final Path directory;

    PluginDirectory(Path directory) {
        this.directory = directory;
    }

    Path kubeletSocket() {
        return directory.resolve("kubelet.sock");
    }

    KubeletSocket look() {
        try {
            Map<String, Object> attributes = Files.readAttributes(kubeletSocket(), "unix:dev,ino,ctime");
            if (attributes.get("dev") instanceof Long device
                    && attributes.get("ino") instanceof Long inode
                    && attributes.get("ctime") instanceof FileTime changed) {
                return new KubeletSocket.Present(device, inode, changed.toMillis());
            }
            return new KubeletSocket.Absent();
        } catch (IOException notThere) {
            return new KubeletSocket.Absent();
        }
    }

    /** Whether a file is the socket of somebody else's plugin, by its name. */
    static boolean isForeign(String name) {
        return name.startsWith("nvidia") && name.endsWith(".sock");
    }

    /** The socket of somebody else's plugin where a process answers on it; blocks. */
    Optional<String> liveForeignPlugin() {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, FOREIGN)) {
            for (Path socket : sockets) {
                if (answers(socket)) {
                    return Optional.of(socket.getFileName().toString());
                }
            }
            return Optional.empty();
        } catch (IOException | java.nio.file.DirectoryIteratorException unreadable) {
            return Optional.empty();
        }
    }

    /** Whether a process serves there; blocks. */
    static boolean answers(Path socket) {
        try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException nobodyThere) {
            return false;
        }
    }
}
