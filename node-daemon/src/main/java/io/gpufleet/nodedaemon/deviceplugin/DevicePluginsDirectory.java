package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Optional;

/** Reads the kubelet's device-plugins directory. */
final class DevicePluginsDirectory {
    /** NVIDIA's {@code nvidia-gpu.sock}, Google's {@code nvidiaGPU-1700000000.sock}. */
    private static final String FOREIGN_SOCKET_GLOB = "nvidia*.sock";

    private final Path directory;

    DevicePluginsDirectory(Path directory) {
        this.directory = directory;
    }

    Path kubeletSocket() {
        return directory.resolve("kubelet.sock");
    }

    /**
     * Reads the identity of the kubelet's socket. A file that is deleted meanwhile may be read without a name (a link count of
     * 0) and with the time of its deletion: that is no other socket, it is absent.
     */
    KubeletSocket readKubeletSocket() {
        try {
            Map<String, Object> attributes = Files.readAttributes(kubeletSocket(), "unix:dev,ino,ctime,nlink");
            if (attributes.get("nlink") instanceof Integer names
                    && names > 0
                    && attributes.get("dev") instanceof Long device
                    && attributes.get("ino") instanceof Long inode
                    && attributes.get("ctime") instanceof FileTime changed) {
                return new KubeletSocket.Present(device, inode, changed.toMillis());
            }
            return new KubeletSocket.Absent();
        } catch (IOException absent) {
            return new KubeletSocket.Absent();
        }
    }

    /** Whether a file name is that of a foreign plugin's socket. */
    static boolean isForeignPlugin(String name) {
        return name.startsWith("nvidia") && name.endsWith(".sock");
    }

    /** The socket of a foreign plugin that accepts connections; blocks. */
    Optional<String> liveForeignPlugin() {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, FOREIGN_SOCKET_GLOB)) {
            for (Path socket : sockets) {
                if (isServed(socket)) {
                    return Optional.of(socket.getFileName().toString());
                }
            }
            return Optional.empty();
        } catch (IOException | java.nio.file.DirectoryIteratorException unreadable) {
            return Optional.empty();
        }
    }

    /** Whether a process listens on a socket, also one that accepts no connections and whose queue is full. */
    static boolean isServed(Path socket) {
        try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // A blocking connect waits for a place in the queue, without an end.
            channel.configureBlocking(false);
            boolean _ = channel.connect(UnixDomainSocketAddress.of(socket));
            return true;
        } catch (ConnectException refused) {
            return false;
        } catch (SocketException absentOrBusy) {
            return Files.exists(socket);
        } catch (IOException failed) {
            return false;
        }
    }
}
