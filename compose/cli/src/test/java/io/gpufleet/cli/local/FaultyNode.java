package io.gpufleet.cli.local;

import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/** One node of two simulated GPUs with its daemon, a health-service that taints it, a broker and a fake API server. */
public final class FaultyNode implements AutoCloseable {
    private static final String NAME = "node-1";

    private final Vertx vertx = Vertx.vertx();
    private final Path state;
    private final TestBed bed;
    private final FakeKubelet kubelet;
    private final SimulatedFaults faults;
    private final ProgramProcess health;
    private final ProgramProcess daemon;

    private FaultyNode(Path directory, Map<String, String> ofHealth, Map<String, String> ofBoth) throws IOException {
        state = directory.resolve("state");
        bed = TestBed.start(directory);
        String bootId =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        TestKubernetes.createNode(bed.client(), NAME, bootId, Map.of());
        kubelet = FakeKubelet.start(vertx, directory.resolve("kubelet"));
        faults = new SimulatedFaults(directory.resolve("faults"));
        health = ProgramProcess.of("health-service", "io.gpufleet.health.HealthMain", directory)
                .environment(bed.settings())
                .environment(Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"))
                .environment(ofHealth)
                .environment(ofBoth)
                .freePort("GPUFLEET_GRPC_PORT")
                .start();
        daemon = ProgramProcess.of("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", directory)
                .environment(ofBoth)
                .environment(Map.of(
                        "GPUFLEET_CLUSTER", TestBed.CLUSTER,
                        "GPUFLEET_KAFKA", bed.broker().bootstrap(),
                        "GPUFLEET_NODE", NAME,
                        "GPUFLEET_DEVICES", "simulated:2xH100",
                        "GPUFLEET_SIMULATION_DIR", faults.directory().toString(),
                        "GPUFLEET_DEVICE_PLUGIN_DIR",
                                kubelet.devicePluginDirectory().toString(),
                        "GPUFLEET_POD_RESOURCES_SOCKET",
                                kubelet.podResourcesSocket().toString(),
                        "GPUFLEET_STATE_DIR", state.toString(),
                        "GPUFLEET_RUN_DIR", directory.resolve("run").toString()))
                .start();
    }

    /**
     * Starts all of it, without waiting for anything.
     *
     * @param ofHealth further settings of the health-service
     * @param ofBoth environment of the health-service and of the daemon
     */
    public static FaultyNode start(Path directory, Map<String, String> ofHealth, Map<String, String> ofBoth)
            throws IOException {
        return new FaultyNode(directory, ofHealth, ofBoth);
    }

    /** The broker and the API server. */
    public TestBed bed() {
        return bed;
    }

    /** The kubelet that the daemon registers with. */
    public FakeKubelet kubelet() {
        return kubelet;
    }

    /** Faults of its GPUs. */
    public SimulatedFaults faults() {
        return faults;
    }

    /** The health-service. */
    public ProgramProcess health() {
        return health;
    }

    /** The daemon. */
    public ProgramProcess daemon() {
        return daemon;
    }

    /** Taints of the node, each as key=value. */
    public List<String> taints() {
        return bed.client().nodes().withName(NAME).get().getSpec().getTaints().stream()
                .map(taint -> taint.getKey() + "=" + taint.getValue())
                .toList();
    }

    /** What the daemon has learnt of the health-service, as JSON; empty before. */
    public String verdict() throws IOException {
        Path file = state.resolve("verdict.json");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    @Override
    public void close() throws ExecutionException, InterruptedException {
        daemon.close();
        health.close();
        kubelet.close();
        bed.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }
}
