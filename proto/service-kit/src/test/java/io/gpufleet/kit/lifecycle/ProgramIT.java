package io.gpufleet.kit.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class ProgramIT {
    @TempDir
    private Path dir = Path.of("");

    @Test
    void wrongEnvironmentEndsWithOneLineAndCodeTwo() throws Exception {
        assertRefused(
                start(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_MODD", "well")),
                "GPUFLEET_MODD=well is not a setting of this program; did you mean GPUFLEET_MOOD? --help lists all");
    }

    @Test
    void missingSettingEndsWithOneLineAndCodeTwo() throws Exception {
        assertRefused(start(Map.of()), "GPUFLEET_CLUSTER is not set: name of the cluster");
    }

    @Test
    void unknownArgumentEndsWithOneLineAndCodeTwo() throws Exception {
        assertRefused(
                start(Map.of("GPUFLEET_CLUSTER", "c1"), "--hepl"),
                "'--hepl' is not an argument: it takes --help or --version; settings are environment variables");
    }

    @Test
    void failureWhileStartingClosesWhatWasOpenedAndEndsWithCodeOne() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_MOOD", "broken"));

        assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("closed");
        assertThat(process.waitFor()).isEqualTo(1);
        assertThat(errors()).contains("start failed").contains("on purpose");
    }

    @Test
    void programThatCannotGoOnSaysWhyAndEndsWithCodeThree() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_MOOD", "failing"));

        assertThat(process.waitFor()).isEqualTo(3);
        assertThat(errors()).contains("sample: the mood is over\n");
    }

    @Test
    void sigtermClosesEverything() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1"));
        BufferedReader out = terminateAfter("runs", process);

        assertThat(out.readLine()).isEqualTo("closed");
        assertThat(process.waitFor()).isEqualTo(143);
    }

    @Test
    void sigtermEndsAProgramOfWhichAPartDoesNotClose() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_MOOD", "stuck"));
        terminateAfter("runs", process);

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(143);
        assertThat(errors())
                .contains("not closed in time, the process ends without")
                .contains("stuck part");
    }

    @Test
    void sigtermDuringTheStartClosesWhatWasOpened() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_MOOD", "slow"));
        BufferedReader out = terminateAfter("starting", process);

        assertThat(out.readLine()).isEqualTo("closed");
        assertThat(out.readLine()).isNull();
        assertThat(process.waitFor()).isEqualTo(143);
        assertThat(errors()).isEmpty();
    }

    @Test
    void whatAStartOpensAfterSigtermIsClosedAndTheStartIsOver() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1", "GPUFLEET_MOOD", "late"));
        BufferedReader out = terminateAfter("starting", process);

        assertThat(out.lines()).containsExactly("closed late part", "closed");
        assertThat(process.waitFor()).isEqualTo(143);
        assertThat(errors()).isEmpty();
    }

    @Test
    void helpListsTheSettingsAndStartsNothing() throws Exception {
        Process process = start(Map.of(), "--help");

        assertThat(process.inputReader(StandardCharsets.UTF_8).readAllAsString())
                .contains("GPUFLEET_MOOD");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void versionIsPrintedAndNothingIsStarted() throws Exception {
        Process process = start(Map.of(), "--version");
        assertThat(process.inputReader(StandardCharsets.UTF_8).readAllAsString())
                .isEqualTo("sample " + BuildInfo.current() + "\n");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void startIsLoggedWithTheVersion() throws Exception {
        Process process = start(Map.of("GPUFLEET_CLUSTER", "c1"));
        await().until(() -> errors().contains("started"));
        assertThat(errors())
                .contains("program=sample")
                .contains("version=" + BuildInfo.current().version())
                .contains("revision=" + BuildInfo.current().revision());
        process.destroyForcibly().waitFor();
    }

    private void assertRefused(Process process, String line) throws Exception {
        assertThat(process.waitFor()).isEqualTo(2);
        assertThat(errors()).isEqualTo("sample: " + line + "\n");
    }

    /** Its output behind the line. */
    private static BufferedReader terminateAfter(String line, Process process) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        assertThat(out.readLine()).isEqualTo(line);
        // By the handle: Process.destroy would close the stream that is read next.
        process.toHandle().destroy();
        return out;
    }

    private Process start(Map<String, String> environment, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), SampleMain.class.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().putAll(environment);
        return builder.redirectError(dir.resolve("err").toFile()).start();
    }

    private String errors() throws IOException {
        return Files.readString(dir.resolve("err"));
    }
}
