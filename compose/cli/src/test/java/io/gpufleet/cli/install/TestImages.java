package io.gpufleet.cli.install;

import io.gpufleet.cli.manifests.ManifestFiles;
import io.gpufleet.cli.pack.DaemonPackage;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The five images, made without Docker by compose/docker/rootfs.sh and loaded into the test's cluster; those of the
 * programs also as the next release: the same build with another version in it.
 */
public final class TestImages {
    public static final String RELEASE = ManifestFiles.RELEASE;
    /** The release after it; nothing but what the programs say of themselves differs. */
    public static final String NEXT_RELEASE = RELEASE + "-next";

    private static final Map<String, String> START = Map.of(
            "node-daemon", "node-daemon",
            "inventory-service", "inventory-service",
            "health-service", "health-service",
            "allocation-service", "allocation-service",
            "cli", "gpufleet");

    private static final Logger LOG = LoggerFactory.getLogger(TestImages.class);

    private TestImages() {}

    /** Makes and loads them, below a directory. */
    public static void load(Path directory) throws IOException, InterruptedException {
        new DaemonPackage(Repository.root()).makeIfStale(LOG::info);
        for (var image : START.entrySet()) {
            Path root = directory.resolve(image.getKey());
            execute(
                    directory,
                    Repository.root().resolve("compose/docker/rootfs.sh").toString(),
                    image.getKey(),
                    root.toString());
            load(directory.resolve(image.getKey() + ".tar"), root, image, RELEASE);
            if (!image.getKey().equals("cli")) {
                changeVersion(root, NEXT_RELEASE);
                load(directory.resolve(image.getKey() + ".tar"), root, image, NEXT_RELEASE);
            }
            execute(directory, "rm", "-rf", root.toString());
        }
    }

    /** An image under the name that the driver installer wants, with busybox for the tools of its script. */
    public static void loadInstaller(Path directory) throws IOException, InterruptedException {
        Path root = directory.resolve("installer");
        execute(directory, "bash", "-ec", """
                mkdir -p $0/bin $0/host $0/run/gpufleet $0/etc/driver-installer $0/etc/driver
                cp /bin/busybox $0/bin/
                for tool in $(busybox --list | grep -vx busybox); do ln -s busybox $0/bin/$tool; done
                """, root.toString());
        Path archive = directory.resolve("installer.tar");
        RealCluster.tool("image", archive.toString(), "docker.io/library/ubuntu:24.04", root.toString(), "/bin/sh");
        RealCluster.tool("load", archive.toString());
        Files.delete(archive);
    }

    private static void load(Path archive, Path root, Map.Entry<String, String> image, String release)
            throws IOException {
        RealCluster.tool(
                "image",
                archive.toString(),
                "docker.io/gpufleet/" + image.getKey() + ":" + release,
                root.toString(),
                "/opt/gpufleet/bin/" + image.getValue());
        RealCluster.tool("load", archive.toString());
        Files.delete(archive);
    }

    /** Writes another version into the jar that says it. */
    private static void changeVersion(Path root, String version) throws IOException {
        for (Path jar : jars(root.resolve("opt/gpufleet"))) {
            if (VersionInJar.replace(jar, version)) {
                return;
            }
        }
        throw new AssertionError("no jar of " + root + " says a version");
    }

    private static List<Path> jars(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
    }

    private static void execute(Path directory, String... command) throws IOException, InterruptedException {
        Path log = directory.resolve("images.log");
        var builder = new ProcessBuilder(List.of(command))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        if (builder.start().waitFor() != 0) {
            throw new AssertionError(List.of(command) + " failed: " + Files.readString(log));
        }
    }
}
