package io.gpufleet.nodedaemon.mps;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script of the MPS pods with fakes of NVIDIA's programs: tests both sides of the file protocol. */
class MpsControlScriptTest {
    private static final String GPU = "nvidia.com/gpu";

    /** Fake control program: responds while the process is alive whose id it wrote; records its commands. */
    private static final String CONTROL = """
            #!/bin/sh
            pid=$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid
            if [ "${1:-}" = -d ]; then
              echo "start $CUDA_VISIBLE_DEVICES" >>"$COMMANDS"
              sleep 600 >/dev/null 2>&1 &
              printf %s $! >"$pid"
              touch "$CUDA_MPS_PIPE_DIRECTORY/control"
              exit 0
            fi
            read -r command
            grep -qs '^State:[[:space:]]*[A-WY]' "/proc/$(cat "$pid")/status" || exit 1
            case $command in
              get_*) echo 25.0 ;;
              quit) echo "$command" >>"$COMMANDS"; kill "$(cat "$pid")" ;;
              *) echo "$command" >>"$COMMANDS" ;;
            esac
            """;

    @TempDir
    Path directory;

    private Process script;

    @BeforeEach
    void start() throws IOException {
        program("nvidia-cuda-mps-control", CONTROL);
        program("nvidia-smi", "#!/bin/sh\necho \"smi $*\" >>\"$COMMANDS\"\n");
        program("mount", "#!/bin/sh\n");
        program("mountpoint", "#!/bin/sh\nexit 1\n");
        program("unshare", "#!/bin/sh\nshift\nexec \"$@\"\n");
        Files.createDirectory(directory.resolve("mps"));
        var builder = new ProcessBuilder("/bin/sh", "../k8s/components/mps/mps-control.sh")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile());
        builder.environment()
                .putAll(Map.of(
                        "PATH",
                        directory.resolve("bin") + ":" + System.getenv("PATH"),
                        "COMMANDS",
                        directory.resolve("commands").toString(),
                        "MPS_ROOT",
                        directory.resolve("mps").toString(),
                        "MPS_PAUSE",
                        "0.2"));
        script = builder.start();
    }

    private void program(String name, String text) throws IOException {
        Path bin = Files.createDirectories(directory.resolve("bin"));
        Path file = Files.writeString(bin.resolve(name), text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    @AfterEach
    void stop() throws Exception {
        script.destroy();
        if (!script.waitFor(10, TimeUnit.SECONDS)) {
            script.destroyForcibly().waitFor();
        }
        controlDaemon().ifPresent(ProcessHandle::destroy);
    }

    private java.util.Optional<ProcessHandle> controlDaemon() throws IOException {
        Path pid = mpsDirectory().resolve("pipe/nvidia-cuda-mps-control.pid");
        return Files.exists(pid)
                ? ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
                : java.util.Optional.empty();
    }

    private Path mpsDirectory() {
        return directory.resolve("mps").resolve(GPU);
    }

    private List<String> commands() throws IOException {
        Path file = directory.resolve("commands");
        return Files.exists(file) ? Files.readAllLines(file, UTF_8) : List.of();
    }

    private String reconcile(int shares, String... devices) {
        var shared = java.util.Arrays.stream(devices)
                .map(uuid -> new MpsDaemonSpec.SharedGpu(uuid, shares, new Reading.Known<>(80L << 30)))
                .toList();
        return new MpsDirectory(mpsDirectory(), Path.of("/proc"), Clock.systemUTC())
                .reconcile(new MpsDaemonSpec(GPU, mpsDirectory().toString(), shared));
    }

    private void awaitReady(int shares, String... devices) {
        await().atMost(30, TimeUnit.SECONDS)
                .until(() -> reconcile(shares, devices).equals(CompanionStatus.READY));
    }

    @Test
    void specIsAppliedChangedMovedAndRemoved() throws Exception {
        // A spec starts a control daemon with its limits
        awaitReady(4, "GPU-a", "GPU-b");
        assertThat(commands())
                .containsExactly(
                        "smi -i GPU-a -c EXCLUSIVE_PROCESS",
                        "smi -i GPU-b -c EXCLUSIVE_PROCESS",
                        "start GPU-a,GPU-b",
                        "set_default_active_thread_percentage 25",
                        "set_default_device_pinned_mem_limit 0 20480M",
                        "set_default_device_pinned_mem_limit 1 20480M");

        // Changed limits are set on the running one
        long first = controlDaemon().orElseThrow().pid();
        awaitReady(8, "GPU-a", "GPU-b");
        assertThat(commands())
                .contains("set_default_active_thread_percentage 12")
                .doesNotContain("quit");
        assertThat(controlDaemon().orElseThrow().pid()).isEqualTo(first);

        // Changed devices need a new one
        awaitReady(8, "GPU-a");
        assertThat(commands()).contains("quit", "start GPU-a");

        // One that dies is restarted
        long third = controlDaemon().orElseThrow().pid();
        controlDaemon().orElseThrow().destroyForcibly();
        await().atMost(30, TimeUnit.SECONDS)
                .until(() -> controlDaemon()
                        .filter(process -> process.pid() != third)
                        .isPresent());
        awaitReady(8, "GPU-a");

        // Without a spec none runs, and the compute mode of the GPU is the default again
        Files.delete(mpsDirectory().resolve("desired"));
        await().atMost(30, TimeUnit.SECONDS)
                .until(() -> commands().getLast().equals("smi -i GPU-a -c DEFAULT")
                        && !Files.exists(mpsDirectory().resolve("ready")));
        assertThat(commands()).endsWith("quit", "smi -i GPU-a -c DEFAULT");
    }

    @Test
    void endedPodRemovesItsReadyFile() throws Exception {
        awaitReady(2, "GPU-a");

        script.destroy();

        assertThat(script.waitFor()).isZero();
        assertThat(reconcile(2, "GPU-a")).contains("has not responded");
        assertThat(commands().getLast()).isEqualTo("smi -i GPU-a -c DEFAULT");
    }
}
