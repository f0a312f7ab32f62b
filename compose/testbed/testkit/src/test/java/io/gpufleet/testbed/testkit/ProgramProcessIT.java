package io.gpufleet.testbed.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramProcessIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int SIGTERM_STATUS = 128 + 15;

    @TempDir
    Path directory;

    @Test
    void programAnswersWithItsSettingsAndKeepsThemOverRestart() {
        try (var program = echo().start().awaitReady(TIMEOUT)) {
            assertThat(program.log()).contains("GPUFLEET_NODE=n1", "GPUFLEET_HTTP_PORT=" + program.httpPort());
            assertThat(program.hasMetric("gpufleet_active 1.0")).isTrue();
            assertThat(program.hasMetric("gpufleet_other 1")).isFalse();

            long before = program.pid();
            program.kill();
            assertThat(program.get("/readyz")).isEqualTo(HttpAnswer.NONE);
            program.restart();

            assertThat(program.awaitReady(TIMEOUT).pid()).isNotEqualTo(before);
            assertThat(program.terminate(TIMEOUT)).isEqualTo(SIGTERM_STATUS);
        }
    }

    @Test
    void otherCommandOfProgramRunsWithItsSettings() {
        try (var program = echo().start()) {
            CommandOutput output = program.run("3");

            assertThat(output.status()).isEqualTo(3);
            assertThat(output.text()).contains("GPUFLEET_NODE=n1");
        }
    }

    @Test
    void programThatExitsWhileStartingIsReportedWithItsLog() {
        try (var program = echo().arguments("2").start()) {
            assertThatThrownBy(() -> program.awaitReady(TIMEOUT))
                    .hasMessageContaining("exited with status 2")
                    .hasMessageContaining("GPUFLEET_NODE=n1");
        }
    }

    private ProgramProcess.Builder echo() {
        return ProgramProcess.of("compose/testbed/testkit", EchoMain.class.getName(), directory)
                .classPath(System.getProperty("java.class.path"))
                .environment(Map.of("GPUFLEET_NODE", "n1"));
    }
}
