package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.TextTable;
import java.util.List;
import java.util.Locale;

/** Table of the invariants of drills, and the exit status that says whether all of them held. */
public final class DrillReport {
    private final TextTable table = new TextTable("DRILL", "INVARIANT", "HOLDS", "AFTER");
    private boolean all = true;

    /** Adds the invariants of a drill. */
    public void add(Drill drill, List<Invariant> invariants) {
        for (Invariant found : invariants) {
            String seconds = String.format(Locale.ROOT, "%.1f s", found.seconds());
            table.row(drill.name(), found.sentence(), found.holds() ? "yes" : "NO", seconds);
            all &= found.holds();
        }
    }

    /** Renders the table. */
    public String render() {
        return table.render();
    }

    /** 0 where every invariant held; else 1. */
    public int exitStatus() {
        return all ? 0 : 1;
    }
}
