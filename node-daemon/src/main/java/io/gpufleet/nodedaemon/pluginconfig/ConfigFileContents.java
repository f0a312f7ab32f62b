package io.gpufleet.nodedaemon.pluginconfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Contents of the operator's files. All files are read each time: they are few and small, and neither timestamps nor
 * inotify reliably show that a mounted ConfigMap was replaced.
 *
 * @param singleFile text of the single configuration file; empty if none is configured
 * @param filesByName texts of the directory's files, by file name
 */
record ConfigFileContents(String singleFile, Map<String, String> filesByName) {
    private static final int MAX_BYTES = 1 << 20;

    /** Reads the files; a configured file or directory must exist. */
    static ConfigFileContents read(String file, String directory) {
        var filesByName = new TreeMap<String, String>();
        if (!directory.isEmpty()) {
            // Kubernetes uses names with two dots for its own files.
            try (Stream<Path> entries = Files.list(Path.of(directory))) {
                entries.filter(entry -> !entry.getFileName().toString().startsWith("."))
                        .filter(Files::isRegularFile)
                        .forEach(entry -> filesByName.put(entry.getFileName().toString(), text(entry)));
            } catch (IOException unreadable) {
                throw unreadable(directory, unreadable);
            }
        }
        return new ConfigFileContents(file.isEmpty() ? "" : text(Path.of(file)), filesByName);
    }

    private static String text(Path file) {
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new InvalidSettingsException(file + " is larger than 1 MiB");
            }
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw unreadable(file.toString(), unreadable);
        }
    }

    private static InvalidSettingsException unreadable(String path, IOException cause) {
        String reason = cause instanceof NoSuchFileException ? "it does not exist" : cause.toString();
        return new InvalidSettingsException(path + " cannot be read: " + reason + "; check the path and the mount");
    }

    /** The file with a name, which may omit {@code .yaml}. */
    Optional<String> fileOf(String name) {
        return Stream.of(name, name + ".yaml", name + ".yml")
                .filter(filesByName::containsKey)
                .findFirst();
    }

    /** Text of an existing file. */
    String textOf(String fileName) {
        return filesByName.getOrDefault(fileName, "");
    }
}
