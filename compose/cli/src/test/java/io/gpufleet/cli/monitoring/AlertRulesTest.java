package io.gpufleet.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gpufleet.cli.monitoring.MonitoringManifests.Alert;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alerts of the component monitoring, by Prometheus' own tool and against their runbook. */
class AlertRulesTest {
    private static final Path PROMTOOL = Path.of("/usr/bin/promtool");

    @TempDir
    Path dir;

    @Test
    void everyAlertFiresAndStaysQuietAsItsTestsSay() throws Exception {
        assumeTrue(Files.isExecutable(PROMTOOL), "no promtool here: apt-get install prometheus");
        Files.writeString(dir.resolve("alerts.yaml"), MonitoringManifests.yaml(MonitoringManifests.rules()));
        Files.copy(MonitoringManifests.directory().resolve("alerts-test.yaml"), dir.resolve("alerts-test.yaml"));

        Process promtool = new ProcessBuilder(PROMTOOL.toString(), "test", "rules", "alerts-test.yaml")
                .directory(dir.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(promtool.waitFor()).as(output).isZero();
    }

    @Test
    void everyAlertHasTestsOfBothKinds() throws IOException {
        String tests = Files.readString(MonitoringManifests.directory().resolve("alerts-test.yaml"));

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
