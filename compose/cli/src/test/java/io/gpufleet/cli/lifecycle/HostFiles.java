package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the daemon leaves on a host, in the directories that its DaemonSet mounts.
 *
 * @param before what was there before the installation, such as the sockets of a daemon that another test killed
 */
record HostFiles(List<Path> before) {
    private static final List<Path> DIRECTORIES = List.of(
            Path.of("/var/lib/kubelet/device-plugins"),
            Path.of("/var/lib/kubelet/plugins_registry"),
            Path.of("/var/run/cdi"),
            Path.of("/var/lib"),
            Path.of("/run"));

    static HostFiles now() throws IOException {
        return new HostFiles(ours());
    }

    /** Nothing of ours is there since then that a page does not name. */
    void assertNamedBy(Path page) throws IOException {
        String text = Files.readString(page);
        var since = new ArrayList<>(ours());
        since.removeAll(before);
        for (Path left : since) {
            assertThat(text)
                    .as("%s is on the host, and not named by %s", left, page)
                    .contains(left.toString());
        }
    }

    private static List<Path> ours() throws IOException {
        var found = new ArrayList<Path>();
        for (Path directory : DIRECTORIES) {
            if (Files.isDirectory(directory)) {
                try (Stream<Path> files = Files.list(directory)) {
                    files.filter(file -> file.getFileName().toString().contains("gpufleet"))
                            .forEach(found::add);
                }
            }
        }
        return found;
    }
}
