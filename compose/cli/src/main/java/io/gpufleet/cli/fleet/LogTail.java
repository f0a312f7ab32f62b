package io.gpufleet.cli.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.List;

/** Reads the last lines of a log, whatever its size. */
final class LogTail {
    private static final int MAX_BYTES = 64 * 1024;

    private LogTail() {}

    /** The last lines that are not blank, at most {@code count}; none of a file that cannot be read. */
    static List<String> of(String log, int count) {
        try (var file = new RandomAccessFile(log, "r")) {
            long from = Math.max(0, file.length() - MAX_BYTES);
            byte[] end = new byte[(int) (file.length() - from)];
            file.seek(from);
            file.readFully(end);
            List<String> lines = new String(end, UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .toList();
            return lines.subList(Math.max(0, lines.size() - count), lines.size());
        } catch (IOException unreadable) {
            return List.of();
        }
    }
}
