package io.gpufleet.nodedaemon.app;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Rows below a head, each column as wide as its widest cell, two spaces between. */
final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    TextTable(List<String> head) {
        rows.add(head);
    }

    void row(List<String> cells) {
        rows.add(cells);
    }

    /** Whether there is nothing below the head. */
    boolean isEmpty() {
        return rows.size() == 1;
    }

    /** Ends in a line break. */
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
