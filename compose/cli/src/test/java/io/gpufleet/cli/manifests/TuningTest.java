package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Defaults on the page of tuning are those of the programs. */
class TuningTest {
    private static final Pattern NAME = Pattern.compile("`(GPUFLEET_[A-Z_]+)");
    private static final Pattern DURATION = Pattern.compile("(\\d+)([sm])");
    /** Their defaults are names of a file and of all groups; what these have is said on the page. */
    private static final Set<String> NAMED = Set.of("GPUFLEET_POOLS", "GPUFLEET_LABELS");

    @Test
    void defaultsOfThePageAreThoseOfThePrograms() throws IOException {
        var compared = new ArrayList<String>();
        List<String> rows = Files.readAllLines(Repository.module("k8s/docs/tuning.md")).stream()
                .filter(line -> line.startsWith("| "))
                .toList();
        for (String row : rows) {
            String[] cells = row.split("\\|", -1);
            for (MatchResult setting : NAME.matcher(cells[2]).results().toList()) {
                String name = setting.group(1);
                if (!NAMED.contains(name)) {
                    assertThat(ProgramSettings.defaults(name))
                            .as(name)
                            .isNotEmpty()
                            .allSatisfy(value -> assertThat(
                                            cells[3].replace("`", "").strip().split(", | of "))
                                    .as(row)
                                    .contains(asOnThePage(value)));
                    compared.add(name);
                }
            }
        }
        assertThat(compared).hasSize(7);
    }

    @Test
    void standardPoolsAreAsThePageSays() throws IOException {
        assertThat(Files.readString(Repository.module("k8s/docs/tuning.md"))).contains("10 % of nodes and of devices");
        assertThat(ProgramSettings.defaults("GPUFLEET_POOLS")).containsExactly("standard");
    }

    private static String asOnThePage(String value) {
        var duration = DURATION.matcher(value);
        if (duration.matches()) {
            return duration.group(1) + (duration.group(2).equals("m") ? " min" : " s");
        }
        return value.matches("\\d+")
                ? " %d MiB".formatted(Long.parseLong(value) >> 20).strip()
                : value;
    }
}
