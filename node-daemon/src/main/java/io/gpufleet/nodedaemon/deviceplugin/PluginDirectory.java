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
    private static final String OWN_PREFIX = "gpufleet-";

    private final Path directory;

    PluginDirectory(Path directory) {
        this.directory = directory;
    }

    Path path() {
        return directory;
    }

    Path kubeletSocket() {
        return directory.resolve("kubelet.sock");
    }

    /** Never the same name twice: an old kubelet client keyed by name must not meet a new server. */
    Path ownSocket(String resource, long epoch, int serial) {
        String word = resource.substring(resource.indexOf('/') + 1);
        return directory.resolve(OWN_PREFIX + word + "-" + epoch + (serial == 0 ? "" : "-" + serial) + ".sock");
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

    /** The socket of NVIDIA's plugin where a process answers on it. */
    Optional<String> liveForeignPlugin() {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, "nvidia-*.sock")) {
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

    /** Sockets that earlier starts of ours left behind. */
    void removeLeftovers() {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, OWN_PREFIX + "*.sock")) {
            for (Path socket : sockets) {
                if (!answers(socket)) {
                    Files.deleteIfExists(socket);
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException leftThere) {
            // A leftover does no harm: the next start has another name.
        }
    }

    private static boolean answers(Path socket) {
        try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException nobodyThere) {
            return false;
        }
    }
}
