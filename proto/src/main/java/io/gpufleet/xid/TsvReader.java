package io.gpufleet.xid;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Reads tab-separated tables. Lines that start with # are comments; an invalid line is refused with its number. */
final class TsvReader {
    private TsvReader() {}

    /** Consumer of one row; throws {@link IllegalArgumentException} for an invalid one. */
    interface RowConsumer {
        void accept(String[] columns);
    }

    static void read(Reader text, int columns, RowConsumer row) throws IOException {
        BufferedReader lines = new BufferedReader(text);
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            if (!line.isBlank() && !line.startsWith("#")) {
                try {
                    row.accept(split(line, columns));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private static String[] split(String line, int expected) {
        String[] columns = line.split("\t", -1);
        if (columns.length != expected) {
            throw new IllegalArgumentException(columns.length + " columns, " + expected + " expected");
        }
        return columns;
    }

    /** Parser of a whole table. */
    interface TableParser<T> {
        T parse(Reader text) throws IOException;
    }

    static <T> T readResource(String name, TableParser<T> parser) {
        try (Reader text = new InputStreamReader(
                Objects.requireNonNull(TsvReader.class.getResourceAsStream(name), name), StandardCharsets.UTF_8)) {
            return parser.parse(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
