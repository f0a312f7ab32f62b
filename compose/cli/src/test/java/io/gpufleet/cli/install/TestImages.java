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
import org.apache.kafka.common.utils.AppInfoParser;
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

    private static final String UBUNTU = "docker.io/library/ubuntu:24.04";

    private static final Logger LOG = LoggerFactory.getLogger(TestImages.class);

    private TestImages() {}

    /** Makes and loads them, below a directory. */
    public static void load(Path directory) throws IOException, InterruptedException {
        load(directory, false);
    }

    /** Makes and loads them, and those of the next release. */
    public static void loadBothReleases(Path directory) throws IOException, InterruptedException {
        load(directory, true);
    }

    private static void load(Path directory, boolean next) throws IOException, InterruptedException {
        new DaemonPackage(Repository.root()).makeIfStale(LOG::info);
        for (var image : START.entrySet()) {
            Path root = directory.resolve(image.getKey());
            execute(
                    directory,
                    Repository.root().resolve("compose/docker/rootfs.sh").toString(),
                    image.getKey(),
                    root.toString());
            load(directory.resolve(image.getKey() + ".tar"), root, image, RELEASE);
            if (next && !image.getKey().equals("cli")) {
                changeVersion(root, NEXT_RELEASE);
                load(directory.resolve(image.getKey() + ".tar"), root, image, NEXT_RELEASE);
            }
            execute(directory, "rm", "-rf", root.toString());
        }
    }

    /** An image under the name that the driver installer wants, with busybox for the tools of its script. */
    public static void loadInstaller(Path directory) throws IOException, InterruptedException {
        load(directory, UBUNTU, "/bin/sh", """
                mkdir -p $0/bin $0/host $0/run/gpufleet $0/etc/driver-installer $0/etc/driver
                cp /bin/busybox $0/bin/
                for tool in $(busybox --list | grep -vx busybox); do ln -s busybox $0/bin/$tool; done
                """, "");
    }

    /**
     * An image under the name that the MPS pods want, with Debian's tools for those of Ubuntu, and in {@code /usr/local/bin} the
     * programs of a directory, as the container runtime of NVIDIA mounts those of the driver.
     */
    public static void loadMps(Path directory, Path programs) throws IOException, InterruptedException {
        load(directory, UBUNTU, "/bin/bash", """
                compose/docker/root.sh $0 cp date find grep head mount mountpoint sed timeout touch tr unshare
                install -m 755 -t $0/usr/local/bin "$1"/*
                """, programs.toString());
    }

    /** Kafka under the name of the image that the component kafka-for-development wants, as compose/docker/kafka-stand-in.sh says. */
    public static void loadKafka(Path directory) throws IOException, InterruptedException {
        load(directory, "docker.io/apache/kafka:" + AppInfoParser.getVersion(), "/etc/kafka/docker/run", """
                compose/docker/root.sh $0
                "$JAVA_HOME/bin/jlink" --add-modules java.se,jdk.management,jdk.unsupported --strip-debug \
                    --no-header-files --no-man-pages --output $0/opt/java
                ln -s /opt/java/bin/java $0/usr/local/bin/java
                compose/docker/kafka-stand-in.sh $0
                """, "");
    }

    /** Loads an image of the root that a script lays out below its {@code $0}, in the checkout; an argument is its {@code $1}. */
    private static void load(Path directory, String image, String entrypoint, String script, String argument)
            throws IOException, InterruptedException {
        Path root = directory.resolve("stand-in");
        Path archive = directory.resolve("stand-in.tar");
        execute(directory, "bash", "-ec", script, root.toString(), argument);
        RealCluster.tool("image", archive.toString(), image, root.toString(), entrypoint);
        RealCluster.tool("load", archive.toString());
        execute(directory, "rm", "-rf", root.toString(), archive.toString());
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
                .directory(Repository.root().toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        if (builder.start().waitFor() != 0) {
            throw new AssertionError(List.of(command) + " failed: " + Files.readString(log));
        }
    }
}
