package io.gpufleet.nodedaemon.installer;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Processes of the script of the driver installer on a stand-in host. */
final class InstallerScript implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(60);

    private final Path directory;
    private final StandInHost host;
    private final Map<String, String> environment;
    private final List<Process> started = new ArrayList<>();

    /** The script in a directory, on a host with a GPU, with NVIDIA's installer as its source. */
    InstallerScript(Path directory, StandInHost host) throws IOException {
        this.directory = directory;
        this.host = host;
        host.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        host.setting("source", "run");
        host.setting("url", "https://drivers.example/NVIDIA-@ARCH@-@VERSION@.run");
        environment = new HashMap<>(Map.of(
                "PATH", directory.resolve("bin") + ":" + System.getenv("PATH"),
                "COMMANDS", directory.resolve("commands").toString(),
                "HOST_ROOT", host.root().toString(),
                "RUN_DIR", host.run().toString(),
                "SETTINGS_DIR", directory.resolve("settings").toString(),
                "PAUSE", "1",
                "RETRY", "1"));
    }

    /** Sets a variable of the processes that are started from now on. */
    void variable(String name, String value) {
        environment.put(name, value);
    }

    /** Has it look and try again so seldom that only a change can be the reason of what a test waits for. */
    void pauseForTenMinutes() {
        variable("PAUSE", "600");
        variable("RETRY", "600");
    }

    void start() throws IOException {
        var builder = new ProcessBuilder("/bin/sh", "../k8s/components/driver-installer/driver-installer.sh")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log").toFile()));
        builder.environment().putAll(environment);
        started.add(builder.start());
    }

    /** The process that was started last. */
    Process process() {
        return started.getLast();
    }

    /** Waits for a state while the stand-in daemon answers to the hold file. */
    void awaitState(String state) {
        await().atMost(LIMIT)
                .until(
                        () -> {
                            host.answerHold();
                            return host.state();
                        },
                        text -> text.startsWith(state));
    }

    /** Waits for a state while no daemon answers. */
    void awaitStateWithoutDaemon(String state) {
        await().atMost(LIMIT).until(host::state, text -> text.startsWith(state));
    }

    @Override
    public void close() throws InterruptedException {
        for (Process script : started) {
            script.destroy();
            if (!script.waitFor(20, TimeUnit.SECONDS)) {
                script.destroyForcibly().waitFor();
            }
        }
    }
}
