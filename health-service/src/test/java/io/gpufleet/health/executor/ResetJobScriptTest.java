package io.gpufleet.health.executor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script of the Job that resets GPUs, with fakes of the driver's program and of the node-daemon. */
class ResetJobScriptTest {
    @TempDir
    Path directory;

    @BeforeEach
    void prepare() throws IOException {
        Files.createDirectory(directory.resolve("bin"));
        Files.createDirectory(directory.resolve("run"));
        program("chroot", "test -e \"$RUN_DIRECTORY/hold\" && echo \"$*\" >> \"$COMMANDS\"\n");
        // While the script waits, the daemon lets the GPUs go.
        program("sleep", "touch \"$RUN_DIRECTORY/released\"\n");
    }

    private void program(String name, String text) throws IOException {
        Path file = Files.writeString(directory.resolve("bin").resolve(name), "#!/bin/sh\n" + text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private static String script() throws IOException {
        String template = Files.readString(Repository.module("k8s/components/remediation/executors/job/reset-gpu.yaml"))
                .replace("@UUIDS@", "[\"GPU-1\",\"GPU-2\"]");
        return Serialization.unmarshal(template, Job.class)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getArgs()
                .getFirst();
    }

    private int run() throws IOException, InterruptedException {
        var builder = new ProcessBuilder("bash", "-c", script()).redirectErrorStream(true);
        builder.environment()
                .putAll(Map.of(
                        "PATH",
                        directory.resolve("bin") + ":" + System.getenv("PATH"),
                        "RUN_DIRECTORY",
                        directory.resolve("run").toString(),
                        "COMMANDS",
                        directory.resolve("commands").toString(),
                        "DRIVER_ROOT",
                        "/host",
                        "UUIDS",
                        "[\"GPU-1\",\"GPU-2\"]"));
        Process process = builder.start();
        Files.write(directory.resolve("log"), process.getInputStream().readAllBytes());
        return process.waitFor();
    }

    private String log() throws IOException {
        return Files.readString(directory.resolve("log"), UTF_8);
    }

    @Test
    void everyGpuIsResetOnceTheDaemonLetThemGo() throws IOException, InterruptedException {
        assertThat(run()).as(log()).isZero();

        assertThat(directory.resolve("commands"))
                .hasContent("/host nvidia-smi --gpu-reset -i GPU-1\n/host nvidia-smi --gpu-reset -i GPU-2\n");
        assertThat(directory.resolve("run/hold")).doesNotExist();
    }

    @Test
    void nothingIsResetWhileTheDaemonHasThemOpen() throws IOException, InterruptedException {
        program("sleep", "");

        assertThat(run()).isOne();

        assertThat(log()).contains("did not let the GPUs go");
        assertThat(directory.resolve("commands")).doesNotExist();
        assertThat(directory.resolve("run/hold")).doesNotExist();
    }

    @Test
    void aHoldOfSomebodyElseStays() throws IOException, InterruptedException {
        Path hold = Files.writeString(directory.resolve("run/hold"), "reason: driver 580 is coming\n");

        assertThat(run()).isOne();

        assertThat(log()).contains("held already: reason: driver 580 is coming");
        assertThat(hold).exists();
    }

    @Test
    void aResetThatFailsGivesTheGpusBack() throws IOException, InterruptedException {
        program("chroot", "exit 7\n");

        assertThat(run()).isEqualTo(7);

        assertThat(directory.resolve("run/hold")).doesNotExist();
    }
}
