package io.gpufleet.compose.bench.daemon;

import io.gpufleet.compose.bench.Figure;
import io.gpufleet.compose.fleet.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Figures named {@code daemon.<who>.<what>} as a table with a row for each what and a column for each who. */
final class SideBySide {
    private SideBySide() {}

    static Table of(List<Figure> figures) {
        Set<String> columns = new LinkedHashSet<>();
        Map<String, Map<String, Figure>> rows = new LinkedHashMap<>();
        for (Figure figure : figures) {
            String[] parts = figure.name().split("\\.", 3);
            columns.add(parts[1]);
            rows.computeIfAbsent(parts[2], _ -> new LinkedHashMap<>()).put(parts[1], figure);
        }
        var headings = new ArrayList<String>(List.of("FIGURE"));
        headings.addAll(columns);
        headings.add("UNIT");
        var table = new Table(headings.toArray(String[]::new));
        rows.forEach((what, values) -> {
            var cells = new ArrayList<String>(List.of(what));
            columns.forEach(column -> {
                Figure figure = values.get(column);
                cells.add(figure == null ? "-" : String.format(Locale.ROOT, "%.1f", figure.value()));
            });
            cells.add(values.values().iterator().next().unit());
            table.row(cells.toArray(String[]::new));
        });
        return table;
    }
}
