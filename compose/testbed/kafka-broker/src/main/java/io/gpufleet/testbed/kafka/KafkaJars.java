package io.gpufleet.testbed.kafka;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the class path of the broker, apart from ours: its Jackson and log libraries have other versions. */
final class KafkaJars {
    private static final String PROPERTY = "gpufleet.kafka.jars";
    private static final String BUILD_OUTPUT = "compose/testbed/kafka-broker/target/kafka";

    private KafkaJars() {}

    /** The class path as {@code java -cp} takes it; the exception names the remedy. */
    static String classPath() {
        String configured = System.getProperty(PROPERTY, "");
        if (!configured.isEmpty()) {
            return wildcardOf(Path.of(configured))
                    .orElseThrow(() -> new IllegalStateException(PROPERTY + "=" + configured
                            + " has no kafka_*.jar: name the directory " + BUILD_OUTPUT + " of a built tree"));
        }
        return classPath(codeLocation(), Path.of("").toAbsolutePath());
    }

    /** The same for a client of ours that uses the broker's libraries. */
    static String classPathWithThisCode() {
        return classPath() + File.pathSeparator + codeLocation();
    }

    /**
     * Searches from the code first: the program of a checkout finds the jars of that checkout, whatever the working
     * directory is.
     */
    static String classPath(Path code, Path workingDirectory) {
        return inBuildOutput(code)
                .or(() -> inRepository(code))
                .or(() -> aboveDirectory(code))
                .or(() -> aboveDirectory(workingDirectory))
                .orElseThrow(() -> new IllegalStateException("the jars of the Kafka broker were not found beside "
                        + code + " nor in " + BUILD_OUTPUT + " above it or above " + workingDirectory
                        + ": run 'mvn -pl compose/testbed/kafka-broker package' in the tree, or name the directory by"
                        + " -D"
                        + PROPERTY));
    }

    private static Path codeLocation() {
        try {
            return Path.of(KafkaJars.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("a loaded class has a location", impossible);
        }
    }

    /** Both target/classes and target/*.jar are beside target/kafka. */
    private static Optional<String> inBuildOutput(Path code) {
        return wildcardOf(code.resolveSibling("kafka"));
    }

    /** For a jar in a Maven repository, which has the other jars too. */
    private static Optional<String> inRepository(Path code) {
        List<String> names = names();
        for (Path root = code.getParent(); root != null && !names.isEmpty(); root = root.getParent()) {
            Path repository = root;
            if (names.stream().allMatch(name -> Files.isRegularFile(repository.resolve(name)))) {
                return Optional.of(names.stream()
                        .map(name -> repository.resolve(name).toString())
                        .collect(Collectors.joining(File.pathSeparator)));
            }
        }
        return Optional.empty();
    }

    private static List<String> names() {
        try (@Nullable InputStream list = KafkaJars.class.getResourceAsStream("kafka.classpath")) {
            if (list == null) {
                return List.of();
            }
            return Arrays.stream(new String(list.readAllBytes(), StandardCharsets.UTF_8)
                            .strip()
                            .split(":"))
                    .map(name -> name.startsWith("./") ? name.substring(2) : name)
                    .toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Optional<String> aboveDirectory(Path start) {
        for (Path dir = start; dir != null; dir = dir.getParent()) {
            Optional<String> found = wildcardOf(dir.resolve(BUILD_OUTPUT));
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> wildcardOf(Path directory) {
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try (Stream<Path> jars = Files.list(directory)) {
            boolean complete = jars.anyMatch(jar -> jar.getFileName().toString().startsWith("kafka_"));
            return complete ? Optional.of(directory + File.separator + "*") : Optional.empty();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
