package io.gpufleet.cli.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A table for the terminal. */
public final class TextTable {
    private final List<String> headings;
    private final List<List<String>> rows = new ArrayList<>();

    /** An empty table. */
    public TextTable(String... headings) {
        this.headings = List.of(headings);
    }

    /** Adds a row; it has as many cells as there are headings. */
    public TextTable row(String... cells) {
        if (cells.length != headings.size()) {
            throw new IllegalArgumentException(cells.length + " cells under " + headings.size() + " headings");
        }
        rows.add(List.of(cells));
        return this;
    }

    /**
     * Renders columns as wide as their widest cell, two spaces apart, without trailing spaces, with a final line end.
     */
    public String render() {
        var all = new ArrayList<List<String>>();
        all.add(headings);
        all.addAll(rows);
        List<Integer> widths = IntStream.range(0, headings.size())
                .mapToObj(column -> all.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toList();
        return all.stream().map(row -> line(row, widths)).collect(Collectors.joining());
    }

    private static String line(List<String> row, List<Integer> widths) {
        var line = new StringBuilder();
        for (int column = 0; column < row.size(); column++) {
            String cell = row.get(column);
            line.append(cell).append(" ".repeat(widths.get(column) - cell.length() + 2));
        }
        return line.toString().stripTrailing() + "\n";
    }
}
