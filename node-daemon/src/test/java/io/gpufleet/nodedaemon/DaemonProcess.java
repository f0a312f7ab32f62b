package io.gpufleet.nodedaemon;

import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.HttpAnswer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon as a process, with simulated GPUs unless the settings say otherwise. */
final class DaemonProcess implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final AtomicBoolean CACHE_EXISTS = new AtomicBoolean();
    private static final Logger LOG = LoggerFactory.getLogger(DaemonProcess.class);

    private final SimulatedFaults faults;
    private final ProgramProcess process;

    /** Starts the daemon; all its files are below a directory. */
    DaemonProcess(Path directory, Map<String, String> settings) {
        faults = new SimulatedFaults(directory.resolve("faults"));
        if (CACHE_EXISTS.compareAndSet(false, true)) {
            recordCache(directory.resolve("training"));
        }
        process = program(directory, faults.directory()).environment(settings).start();
    }

    private static ProgramProcess.Builder program(Path directory, Path faults) {
        return ProgramProcess.of("node-daemon", NodeDaemonMain.class.getName(), directory)
                .environment(Map.of(
                        "GPUFLEET_CLUSTER", "c1",
                        "GPUFLEET_DEVICES", "simulated:8xH100",
                        "GPUFLEET_SIMULATION_DIR", faults.toString(),
                        "GPUFLEET_STATE_DIR", directory.resolve("state").toString(),
                        "GPUFLEET_RUN_DIR", directory.resolve("run").toString()));
    }

    /** One start without broker and kubelet, so that the many starts of the tests take a third of the CPU time. */
    private static void recordCache(Path directory) {
        ProgramProcess.Builder trained = program(directory, directory.resolve("faults"))
                .environment(Map.of(
                        "GPUFLEET_NODE",
                        "training",
                        "GPUFLEET_KAFKA",
                        "127.0.0.1:1",
                        "GPUFLEET_DEVICE_PLUGIN_DIR",
                        directory.resolve("kubelet").toString(),
                        "GPUFLEET_POD_RESOURCES_SOCKET",
                        directory.resolve("pod-resources.sock").toString()))
                .recordCache();
        if (trained.recordsCache()) {
            try (ProgramProcess process = trained.start()) {
                await().atMost(TIMEOUT).until(() -> process.get("/livez").status() == 200);
                process.get("/metrics");
            }
        }
    }

    /** Exit status and output of another command with the daemon's settings. */
    String command(String... arguments) {
        CommandOutput output = process.run(arguments);
        return output.status() + " " + output.text();
    }

    void restart() {
        process.restart();
    }

    /** SIGKILL; returns when the process is dead. */
    void kill() {
        process.kill();
    }

    int port() {
        return process.httpPort();
    }

    long pid() {
        return process.pid();
    }

    /** SIGTERM; the exit status. The duration is logged and not checked: the machine may be busy. */
    int terminate() {
        long start = System.nanoTime();
        int status = process.terminate(TIMEOUT);
        LOG.atInfo()
                .addKeyValue("millis", (System.nanoTime() - start) / 1_000_000)
                .addKeyValue("status", status)
                .log("SIGTERM to exit");
        return status;
    }

    int exit() {
        return process.awaitExit(TIMEOUT);
    }

    String log() {
        return process.log();
    }

    /** Lines of the log with level ERROR. */
    List<String> errors() {
        return log().lines().filter(line -> line.contains(" ERROR ")).toList();
    }

    Path faults() {
        return faults.directory();
    }

    void fault(int gpu, int xid) {
        faults.inject(gpu, xid);
    }

    void clear(int gpu) {
        faults.clear(gpu);
    }

    /** Status and body of a page; status 0 while the daemon does not answer. */
    String page(String path) {
        HttpAnswer answer = process.get(path);
        return answer.status() + " " + answer.body();
    }

    @Override
    public void close() {
        kill();
    }
}
