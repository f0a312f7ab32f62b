package io.gpufleet.cli.local;

import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A machine with a boot id of its own: a fake kubelet, which makes the Node object, and a daemon. */
final class SimulatedMachine implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(60);

    private final ProgramProcess kubelet;
    private final ProgramProcess daemon;

    private SimulatedMachine(ProgramProcess kubelet, ProgramProcess daemon) {
        this.kubelet = kubelet;
        this.daemon = daemon;
    }

    /**
     * Boots a machine.
     *
     * @param directory of the machine: boot id, state of the daemon, faults; one that was used before is the same machine
     * @param devices {@code GPUFLEET_DEVICES}
     */
    static SimulatedMachine start(Path directory, String node, String devices, String kafka) throws IOException {
        Path boot = Files.createDirectories(directory).resolve("boot_id");
        if (Files.notExists(boot)) {
            Files.writeString(boot, "boot-of-" + directory.getFileName() + "\n");
        }
        Path sockets = directory.resolve("kubelet");
        ProgramProcess kubelet = ProgramProcess.of(
                        "compose/testbed/fake-kubelet", "io.gpufleet.testbed.fakekubelet.FakeKubeletMain", directory)
                .environment(Map.of(
                        "GPUFLEET_FAKE_KUBELETS", node + "=" + sockets,
                        "GPUFLEET_BOOT_ID_FILE", boot.toString(),
                        "KUBECONFIG", RealCluster.kubeconfig().toString()))
                .freePort("GPUFLEET_HTTP_PORT")
                .start();
        kubelet.awaitReady(START);
        ProgramProcess daemon = ProgramProcess.of("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", directory)
                .environment(Map.ofEntries(
                        Map.entry("GPUFLEET_CLUSTER", "it"),
                        Map.entry("GPUFLEET_KAFKA", kafka),
                        Map.entry("GPUFLEET_NODE", node),
                        Map.entry("GPUFLEET_DEVICES", devices),
                        Map.entry(
                                "GPUFLEET_SIMULATION_DIR",
                                directory.resolve("faults").toString()),
                        Map.entry("GPUFLEET_BOOT_ID_FILE", boot.toString()),
                        Map.entry(
                                "GPUFLEET_STATE_DIR", directory.resolve("state").toString()),
                        Map.entry("GPUFLEET_RUN_DIR", directory.resolve("run").toString()),
                        Map.entry(
                                "GPUFLEET_DEVICE_PLUGIN_DIR",
                                sockets.resolve("device-plugins").toString()),
                        Map.entry(
                                "GPUFLEET_POD_RESOURCES_SOCKET",
                                sockets.resolve("pod-resources/kubelet.sock").toString()),
                        Map.entry("GPUFLEET_HTTP_HOST", "127.0.0.1"),
                        Map.entry("GPUFLEET_RECOVERY_DWELL", "2s")))
                .freePort("GPUFLEET_HTTP_PORT")
                .start();
        return new SimulatedMachine(kubelet, daemon);
    }

    /** Switches it off: nothing is told to the API server. */
    @Override
    public void close() {
        daemon.close();
        kubelet.close();
    }
}
