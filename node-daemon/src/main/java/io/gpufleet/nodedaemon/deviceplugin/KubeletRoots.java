package io.gpufleet.nodedaemon.deviceplugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Searches the host for the sockets on which its kubelet listens, whatever its {@code --root-dir} is.
 *
 * @param hostRoot where this process sees the host's root directory
 * @param proc procfs with the host's processes; its process 1 names the sockets of the host's network namespace
 */
public record KubeletRoots(Path hostRoot, Path proc) {
    /** Name of the sockets below a root, both of device plugins and of pod resources. */
    private static final String SOCKET = "kubelet.sock";

    private static final String DEFAULT = "/var/lib/kubelet";
    private static final String K0S = "/var/lib/k0s/kubelet";
    /** Roots of kubeadm and most others, of k0s and of MicroK8s, searched also where the host's processes are not seen. */
    private static final List<String> KNOWN = List.of(DEFAULT, K0S, "/var/snap/microk8s/common/var/lib/kubelet");

    private static final Map<String, String> COMPONENTS = Map.of(K0S, "platforms/k0s");
    /** A line of {@code /proc/PID/net/unix} of a socket that listens. */
    private static final Pattern LISTENING = Pattern.compile("\\S+ \\S+ \\S+ 00010000 .* (/\\S+)");

    /**
     * The host's directory in which its kubelet listens, of those that are not the given one.
     *
     * @param name of the directory below the root, {@code device-plugins} or {@code pod-resources}
     * @param here the directory as this process sees it, in which it does not listen
     */
    Optional<Path> otherDirectory(String name, Path here) {
        Collection<String> roots = new TreeSet<>(KNOWN);
        roots.addAll(listening("/" + name + "/" + SOCKET));
        return roots.stream()
                .map(root -> Path.of(root, name))
                .filter(directory ->
                        DevicePluginsDirectory.isServed(local(directory).resolve(SOCKET)))
                .filter(directory -> !same(local(directory), here))
                .findFirst();
    }

    /** The component of k8s/ for a host with this directory below its kubelet's root; empty if there is none. */
    static Optional<String> component(Path directory) {
        return Optional.ofNullable(COMPONENTS.get(String.valueOf(directory.getParent())));
    }

    /** Roots of the sockets that end so, on which a process of the host listens. */
    private List<String> listening(String end) {
        try {
            return Files.readAllLines(proc.resolve("1/net/unix")).stream()
                    .map(LISTENING::matcher)
                    .filter(Matcher::matches)
                    .map(line -> line.group(1))
                    .filter(socket -> socket.endsWith(end))
                    .map(socket -> socket.substring(0, socket.length() - end.length()))
                    .toList();
        } catch (IOException unseen) {
            return List.of();
        }
    }

    private Path local(Path ofHost) {
        return hostRoot.resolve(Path.of("/").relativize(ofHost));
    }

    private static boolean same(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (IOException absent) {
            return false;
        }
    }
}
