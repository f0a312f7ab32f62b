package io.gpufleet.cli.pack;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Enumeration;
import java.util.function.Predicate;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** A library as the package has it: without the parts that the daemon cannot reach, which are a tenth of all its jars. */
final class ShippedJar {
    /** The AOT cache is valid for jars of the same time; this is the one that tools for images give to all files, if any. */
    private static final FileTime TIME = FileTime.fromMillis(0);

    /** The classes by which Kafka's clients report to brokers about themselves, in libraries of their own; KafkaClients turns it off. */
    private static final Predicate<String> CLIENT_TELEMETRY = entry -> entry.startsWith("org/apache/kafka/shaded/");

    private ShippedJar() {}

    /** Copies a jar, where it has unreachable parts without them. */
    static void copy(Path jar, Path copy) throws IOException {
        Predicate<String> unreachable = unreachable(String.valueOf(jar.getFileName()));
        try (var all = new ZipFile(jar.toFile())) {
            if (all.stream().map(ZipEntry::getName).anyMatch(unreachable)) {
                copy(all, unreachable.negate(), copy);
            } else {
                Files.copy(jar, copy);
            }
        }
        Files.setLastModifiedTime(copy, TIME);
    }

    private static Predicate<String> unreachable(String jar) {
        if (jar.startsWith("kafka-clients-")) {
            return CLIENT_TELEMETRY;
        }
        return jar.matches("jffi-.*-native\\.jar") ? ShippedJar::isOfAnotherPlatform : _ -> false;
    }

    private static boolean isOfAnotherPlatform(String entry) {
        String processor = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        return entry.startsWith("jni/") && !entry.startsWith("jni/" + processor + "-Linux/");
    }

    private static void copy(ZipFile all, Predicate<String> wanted, Path copy) throws IOException {
        try (OutputStream file = Files.newOutputStream(copy);
                var jar = new ZipOutputStream(file)) {
            jar.setLevel(Deflater.BEST_COMPRESSION);
            for (Enumeration<? extends ZipEntry> entries = all.entries(); entries.hasMoreElements(); ) {
                ZipEntry entry = entries.nextElement();
                if (!entry.isDirectory() && wanted.test(entry.getName())) {
                    var shipped = new ZipEntry(entry.getName());
                    shipped.setLastModifiedTime(entry.getLastModifiedTime());
                    jar.putNextEntry(shipped);
                    try (InputStream content = all.getInputStream(entry)) {
                        content.transferTo(jar);
                    }
                }
            }
        }
    }
}
