package io.gpufleet.testbed.kafka;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * The broker's classes as the JVM keeps them in memory, {@code broker.jsa} beside the directory of its jars: a broker
 * starts with less than half the CPU time. Written once per build; without it a broker starts all the same.
 */
public final class ClassDataArchive {
    private static final String NAME = "broker.jsa";
    private static final String ALL_JARS = File.separator + "*";

    private ClassDataArchive() {}

    /**
     * Starts a broker, stops it, and keeps its classes for all later ones.
     *
     * @param arguments directory for the log of that broker
     */
    public static void main(String[] arguments) throws IOException {
        Path dir = Path.of(arguments[0]).toAbsolutePath();
        Path fresh = dir.resolve(NAME);
        String classPath = KafkaJars.classPath();
        Files.deleteIfExists(archive(classPath));
        BrokerProcess.recordClassData(dir, fresh);
        Files.move(fresh, archive(classPath), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Flags of a JVM with this class path; an archive of other jars is ignored by the JVM. */
    static List<String> flags(String classPath) {
        if (!classPath.endsWith(ALL_JARS) || !Files.exists(archive(classPath))) {
            return List.of();
        }
        return List.of("-XX:SharedArchiveFile=" + archive(classPath), "-Xshare:auto", "-Xlog:disable");
    }

    private static Path archive(String classPath) {
        String jars = classPath.substring(0, classPath.length() - ALL_JARS.length());
        return Path.of(jars).toAbsolutePath().resolveSibling(NAME);
    }
}
