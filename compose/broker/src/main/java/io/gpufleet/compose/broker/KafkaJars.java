package io.gpufleet.compose.broker;

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

/** Finds the broker's own class path; it may not mix with ours, whose Jackson and log libraries differ. */
final class KafkaJars {
    private static final String PROPERTY = "gpufleet.kafka.jars";
    private static final String BELOW_BUILD = "compose/broker/target/kafka";

    private KafkaJars() {}

    /** The class path as {@code java -cp} takes it; says what to do when it is nowhere. */
    static String classPath() {
        String told = System.getProperty(PROPERTY, "");
        if (!told.isEmpty()) {
            return folder(Path.of(told))
                    .orElseThrow(() -> new IllegalStateException(PROPERTY + "=" + told
                            + " holds no kafka_*.jar: point it at the folder " + BELOW_BUILD + " of a built tree"));
        }
        Path here = here();
        return beside(here)
                .or(() -> inRepository(here))
                .or(KafkaJars::above)
                .orElseThrow(() -> new IllegalStateException("the jars of the Kafka broker were not found beside "
                        + here
                        + " nor in " + BELOW_BUILD + " above " + Path.of("").toAbsolutePath()
                        + ": run 'mvn -pl compose/broker package' in the tree, or name the folder by -D" + PROPERTY));
    }

    private static Path here() {
        try {
            return Path.of(KafkaJars.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("a class that was loaded has a place", impossible);
        }
    }

    /** Both target/classes and target/broker.jar stand beside target/kafka. */
    private static Optional<String> beside(Path here) {
        return folder(here.resolveSibling("kafka"));
    }

    /** A jar in a Maven repository: the repository has the other jars too. */
    private static Optional<String> inRepository(Path here) {
        List<String> names = names();
        for (Path root = here.getParent(); root != null && !names.isEmpty(); root = root.getParent()) {
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

    private static Optional<String> above() {
        for (Path dir = Path.of("").toAbsolutePath(); dir != null; dir = dir.getParent()) {
            Optional<String> found = folder(dir.resolve(BELOW_BUILD));
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> folder(Path folder) {
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        try (Stream<Path> jars = Files.list(folder)) {
            boolean complete = jars.anyMatch(jar -> jar.getFileName().toString().startsWith("kafka_"));
            return complete ? Optional.of(folder + File.separator + "*") : Optional.empty();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
