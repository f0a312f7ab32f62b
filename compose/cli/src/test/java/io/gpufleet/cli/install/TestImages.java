package io.gpufleet.cli.install;

import io.gpufleet.cli.pack.DaemonPackage;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The five images, made without Docker by compose/docker/rootfs.sh and loaded into the test's cluster. */
final class TestImages {
    private static final Map<String, String> START = Map.of(
            "node-daemon", "node-daemon",
            "inventory-service", "inventory-service",
            "health-service", "health-service",
            "allocation-service", "allocation-service",
            "cli", "gpufleet");

    private static final Logger LOG = LoggerFactory.getLogger(TestImages.class);

    private TestImages() {}

    /** Makes and loads them, below a directory. */
    static void load(Path directory) throws IOException, InterruptedException {
        new DaemonPackage(Repository.root()).makeIfStale(LOG::info);
        for (var image : START.entrySet()) {
            Path root = directory.resolve(image.getKey());
            execute(
                    directory,
                    Repository.root().resolve("compose/docker/rootfs.sh").toString(),
                    image.getKey(),
                    root.toString());
            Path archive = directory.resolve(image.getKey() + ".tar");
            RealCluster.tool(
                    "image",
                    archive.toString(),
                    "docker.io/gpufleet/" + image.getKey() + ":0.1.0",
                    root.toString(),
                    "/opt/gpufleet/bin/" + image.getValue());
            RealCluster.tool("load", archive.toString());
            Files.delete(archive);
            execute(directory, "rm", "-rf", root.toString());
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
