package io.gpufleet.cli.pack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShippedJarTest {
    @TempDir
    private Path directory;

    @Test
    void kafkasClientsComeWithoutTheLibrariesOfTheirTelemetry() throws IOException {
        Path jar = jar(
                "kafka-clients-4.3.1.jar", "org/apache/kafka/Client.class", "org/apache/kafka/shaded/io/Metric.class");

        Path shipped = shipped(jar);

        assertThat(entries(shipped)).containsExactly("org/apache/kafka/Client.class");
        assertThat(content(shipped, "org/apache/kafka/Client.class")).isEqualTo("org/apache/kafka/Client.class");
    }

    @Test
    void nativeLibrariesAreThoseOfThisPlatformAlone() throws IOException {
        String processor = System.getProperty("os.arch").equals("amd64") ? "x86_64" : "aarch64";
        String own = "jni/" + processor + "-Linux/libjffi-1.2.so";
        Path jar = jar("jffi-1.4.0-native.jar", own, "jni/Darwin/libjffi-1.2.jnilib", "META-INF/MANIFEST.MF");

        assertThat(entries(shipped(jar))).containsExactly(own, "META-INF/MANIFEST.MF");
    }

    @Test
    void anyOtherJarIsCopiedAsItIs() throws IOException {
        Path jar = jar("guava-32.1.2-jre.jar", "jni/x", "org/apache/kafka/shaded/y");

        assertThat(shipped(jar)).hasSameBinaryContentAs(jar);
    }

    @Test
    void everyJarHasTheTimeThatToolsForImagesGive() throws IOException {
        Path copied = shipped(jar("guava-32.1.2-jre.jar", "a"));
        Path trimmed = shipped(jar("kafka-clients-4.3.1.jar", "org/apache/kafka/shaded/a"));

        assertThat(Files.getLastModifiedTime(copied)).isEqualTo(FileTime.fromMillis(0));
        assertThat(Files.getLastModifiedTime(trimmed)).isEqualTo(FileTime.fromMillis(0));
    }

    private Path jar(String name, String... entries) throws IOException {
        Path jar = directory.resolve(name);
        try (var out = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (String entry : entries) {
                out.putNextEntry(new ZipEntry(entry));
                out.write(entry.getBytes(StandardCharsets.UTF_8));
            }
        }
        return jar;
    }

    private Path shipped(Path jar) throws IOException {
        Path shipped = directory.resolve("shipped-" + jar.getFileName());
        ShippedJar.copy(jar, shipped);
        return shipped;
    }

    private static List<String> entries(Path jar) throws IOException {
        try (var zip = new ZipFile(jar.toFile())) {
            return zip.stream().map(ZipEntry::getName).toList();
        }
    }

    private static String content(Path jar, String entry) throws IOException {
        try (var zip = new ZipFile(jar.toFile());
                var in = zip.getInputStream(zip.getEntry(entry))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
