package io.gpufleet.nodedaemon.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A table with a header row; each column is as wide as its widest cell, with two spaces between columns. */
final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    TextTable(List<String> header) {
        rows.add(header);
    }

    void row(List<String> cells) {
        rows.add(cells);
    }

    /** Whether there is no row but the header. */
    boolean isEmpty() {
        return rows.size() == 1;
    }

    /** The table; ends in a line break. */
    String text() {
        int[] widths = IntStream.range(0, rows.getFirst().size())
                .map(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        return rows.stream()
                .map(row -> IntStream.range(0, row.size())
                        .mapToObj(column -> row.get(column)
                                + " ".repeat(widths[column] - row.get(column).length()))
                        .collect(Collectors.joining("  "))
                        .stripTrailing())
                .collect(Collectors.joining("\n", "", "\n"));
    }
}
