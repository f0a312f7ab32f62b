package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Starts JVMs with the broker's class path; they write to {@link ServerProperties#output()}. */
record BrokerJvm(ServerProperties properties, String classPath) {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Starts a program of Kafka: main class, then its arguments. */
    Process start(List<String> flags, List<String> arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                // No full collection because of compiled code or loaded classes, as in the jvm.args of the services.
                "-XX:ReservedCodeCacheSize=160m",
                "-XX:MetaspaceSize=96m",
                "--enable-native-access=ALL-UNNAMED",
                "-Dlog4j2.configurationFile=" + properties.log4j()));
        command.addAll(flags);
        command.addAll(BrokerCache.flags(classPath));
        command.addAll(List.of("-cp", classPath));
        command.addAll(arguments);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(properties.output().toFile()))
                .start();
    }

    /** Formats the log directory with a new cluster id; returns when that is done. */
    void format() throws IOException {
        Optional<Path> formatted = BrokerCache.formatted(classPath);
        if (formatted.isPresent()) {
            copy(formatted.get());
        } else {
            formatByStorageTool();
        }
    }

    /** The same with Kafka's own tool, a JVM of its own. */
    void formatByStorageTool() throws IOException {
        Process tool = start(
                List.of("-Xmx64m"),
                List.of(
                        "kafka.tools.StorageTool",
                        "format",
                        "-t",
                        id(),
                        "-c",
                        properties.dir() + "/server.properties"));
        if (BrokerProcess.await(tool) != 0) {
            throw new IllegalStateException("the broker's storage could not be formatted: see " + properties.output());
        }
    }

    /** Writes what StorageTool writes: ids of its own, and the versions of the features from the cache. */
    private void copy(Path formatted) throws IOException {
        Path logDir = Files.createDirectories(properties.logDir());
        Files.copy(formatted, logDir.resolve(formatted.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        writeMeta(id());
    }

    /** Formats the log directory of a broker that joins a cluster; the features are those of its controller. */
    void formatMemberOf(String clusterId) throws IOException {
        Files.createDirectories(properties.logDir());
        writeMeta(clusterId);
    }

    private void writeMeta(String clusterId) throws IOException {
        Files.writeString(
                properties.logDir().resolve("meta.properties"), """
            version=1
            cluster.id=%s
            node.id=%d
            directory.id=%s
            """.formatted(clusterId, properties.node(), id()));
    }

    private static String id() {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random());
    }

    /** An id is 16 random bytes; one that starts with a dash would be read as an option. */
    private static byte[] random() {
        var bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        bytes[0] &= 0x3f;
        return bytes;
    }
}
