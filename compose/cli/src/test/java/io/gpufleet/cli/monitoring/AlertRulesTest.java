package io.gpufleet.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpufleet.cli.monitoring.MonitoringManifests.Alert;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alerts of the component monitoring, by Prometheus' own tool and against their runbook. */
class AlertRulesTest {
    private static final Path PROMTOOL = Path.of("/usr/bin/promtool");

    private static final List<String> TESTS = List.of("alerts-test.yaml", "alerts-week-test.yaml");

    @TempDir
    Path dir;

    @Test
    void everyAlertFiresAndStaysQuietAsItsTestsSay() throws Exception {
        assumeTrue(Files.isExecutable(PROMTOOL), "no promtool here: apt-get install prometheus");
        Files.writeString(dir.resolve("alerts.yaml"), MonitoringManifests.yaml(MonitoringManifests.rules()));
        for (String tests : TESTS) {
            Files.copy(MonitoringManifests.directory().resolve(tests), dir.resolve(tests));
        }

        Process promtool = new ProcessBuilder(PROMTOOL.toString(), "test", "rules", TESTS.getFirst(), TESTS.getLast())
                .directory(dir.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(promtool.waitFor()).as(output).isZero();
    }

    @Test
    void everyAlertHasTestsOfBothKinds() throws IOException {
        var tests = new StringBuilder();
        for (String file : TESTS) {
            tests.append(Files.readString(MonitoringManifests.directory().resolve(file)));
        }

        assertThat(MonitoringManifests.alerts())
                .isNotEmpty()
                .allSatisfy(alert -> assertThat(tests)
                        .contains(alert.name() + " fires\n")
                        .contains(alert.name() + " stays quiet\n"));
    }

    @Test
    void everyAlertHasASectionOfTheRunbookAndASeverity() throws IOException {
        String runbook = Files.readString(MonitoringManifests.directory().resolve("README.md"));

        assertThat(MonitoringManifests.alerts()).allSatisfy(alert -> {
            assertThat(runbook).contains("#### " + alert.name() + "\n");
            assertThat(alert.severity()).isIn("critical", "warning", "info");
            assertThat(alert.annotations().path("summary").asText()).isNotEmpty();
            assertThat(alert.annotations().path("description").asText()).isNotEmpty();
        });
        assertThat(MonitoringManifests.alerts().stream().map(Alert::name)).doesNotHaveDuplicates();
    }
}
