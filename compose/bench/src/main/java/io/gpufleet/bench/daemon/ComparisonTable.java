package io.gpufleet.bench.daemon;

import io.gpufleet.bench.harness.Measurement;
import io.gpufleet.cli.fleet.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Measurements named {@code daemon.<plugin>.<name>} as a table: a row for each name, a column for each plugin. */
final class ComparisonTable {
    private ComparisonTable() {}

    static TextTable of(List<Measurement> figures) {
        Set<String> columns = new LinkedHashSet<>();
        Map<String, Map<String, Measurement>> rows = new LinkedHashMap<>();
        for (Measurement figure : figures) {
            String[] parts = figure.name().split("\\.", 3);
            columns.add(parts[1]);
            rows.computeIfAbsent(parts[2], _ -> new LinkedHashMap<>()).put(parts[1], figure);
        }
        var headings = new ArrayList<String>(List.of("MEASUREMENT"));
        headings.addAll(columns);
        headings.add("UNIT");
        var table = new TextTable(headings.toArray(String[]::new));
        rows.forEach((what, values) -> {
            var cells = new ArrayList<String>(List.of(what));
            columns.forEach(column -> {
                Measurement figure = values.get(column);
                cells.add(figure == null ? "-" : String.format(Locale.ROOT, "%.1f", figure.value()));
            });
            cells.add(values.values().iterator().next().unit());
            table.row(cells.toArray(String[]::new));
        });
        return table;
    }
}
