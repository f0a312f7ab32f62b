package io.gpufleet.nodedaemon.installer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Status of a driver installer: the first line of the file {@code installer}, which it writes; empty without the file. */
public record InstallerStatusFile(Path runDirectory) implements Supplier<String> {
    private static final int MAX_LENGTH = 200;

    @Override
    public String get() {
        try (Stream<String> lines = Files.lines(runDirectory.resolve("installer"))) {
            String status = lines.findFirst().orElse("").strip();
            return status.length() <= MAX_LENGTH ? status : status.substring(0, MAX_LENGTH);
        } catch (IOException | UncheckedIOException absent) {
            return "";
        }
    }
}
