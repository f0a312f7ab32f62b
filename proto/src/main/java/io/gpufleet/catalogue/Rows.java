package io.gpufleet.catalogue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Tables as text: columns between tabs; a line that starts with # is skipped, a bad one refused by its number. */
final class Rows {
    private Rows() {}

    /** Takes one row; refuses a bad one with {@link IllegalArgumentException}. */
    interface Row {
        void take(String[] columns);
    }

    static void read(Reader text, int columns, Row row) throws IOException {
        BufferedReader lines = new BufferedReader(text);
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            if (!line.isBlank() && !line.startsWith("#")) {
                try {
                    row.take(split(line, columns));
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private static String[] split(String line, int wanted) {
        String[] columns = line.split("\t", -1);
        if (columns.length != wanted) {
            throw new IllegalArgumentException(columns.length + " columns, " + wanted + " are wanted");
        }
        return columns;
    }

    /** Reads a resource beside this class. */
    interface Reading<T> {
        T of(Reader text) throws IOException;
    }

    static <T> T resource(String name, Reading<T> reading) {
        try (Reader text = new InputStreamReader(
                Objects.requireNonNull(Rows.class.getResourceAsStream(name), name), StandardCharsets.UTF_8)) {
            return reading.of(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
