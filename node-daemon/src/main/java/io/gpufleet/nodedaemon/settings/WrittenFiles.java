package io.gpufleet.nodedaemon.settings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What stands in the operator's files now. All of them are read each time: they are few and small, and neither a time
 * stamp nor inotify tells reliably when a mounted ConfigMap was swapped below them.
 *
 * @param single text of the one configuration file; empty where none is named
 * @param named texts of the directory's files, by file name
 */
record WrittenFiles(String single, Map<String, String> named) {
    private static final int LARGEST = 1 << 20;

    /** Reads them; a file or directory that is named and not there is bad. */
    static WrittenFiles read(String file, String directory) {
        var named = new TreeMap<String, String>();
        if (!directory.isEmpty()) {
            // Kubernetes keeps its own things below names with two dots.
            try (Stream<Path> entries = Files.list(Path.of(directory))) {
                entries.filter(entry -> !entry.getFileName().toString().startsWith("."))
                        .filter(Files::isRegularFile)
                        .forEach(entry -> named.put(entry.getFileName().toString(), text(entry)));
            } catch (IOException unreadable) {
                throw unreadable(directory, unreadable);
            }
        }
        return new WrittenFiles(file.isEmpty() ? "" : text(Path.of(file)), named);
    }

    private static String text(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw new BadSettingsException(file + " is larger than 1 MiB; that is no configuration file");
            }
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw unreadable(file.toString(), unreadable);
        }
    }

    private static BadSettingsException unreadable(String place, IOException why) {
        String reason = why instanceof NoSuchFileException ? "it is not there" : why.toString();
        return new BadSettingsException(place + " can not be read: " + reason + "; check the path and the mount");
    }

    /** The file that goes by a name, which may leave out {@code .yaml}. */
    Optional<String> fileOf(String name) {
        return Stream.of(name, name + ".yaml", name + ".yml")
                .filter(named::containsKey)
                .findFirst();
    }

    /** Text of a file that is there. */
    String textOf(String fileName) {
        return named.getOrDefault(fileName, "");
    }
}
