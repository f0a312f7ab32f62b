package io.gpufleet.cli.pack;

import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.testbed.fakekubelet.AdmissionException;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.vertx.core.Vertx;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Training run of the JVM for the AOT cache: the daemon once through its usual work, without a broker. The whole cache is
 * resident, and the classes of Kafka's clients, a quarter of it, are needed after the kubelet's first list only.
 */
final class AotTrainingRun {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    /** No broker: nothing listens on port 1. */
    private static final String KAFKA = "127.0.0.1:1";

    private static final String GPU = "nvidia.com/gpu";
    private static final int GPUS = 8;
    private static final int CALLS = 1_000;
    private static final int XID = 79;

    private final FakeKubelet kubelet;
    private final Semaphore changes = new Semaphore(0);

    private AotTrainingRun(FakeKubelet kubelet) {
        this.kubelet = kubelet;
        kubelet.onChange(changes::release);
    }

    /** Runs a command that starts the daemon, below a directory; its output goes to {@code training.log} there. */
    static void execute(Path tree, List<String> command, Path home, Path sockets)
            throws IOException, InterruptedException {
        DirectoryTrees.delete(home);
        DirectoryTrees.delete(sockets);
        Vertx vertx = Vertx.vertx();
        try (var kubelet = FakeKubelet.start(vertx, sockets)) {
            FakeNvmlLibrary.build(tree, home.resolve("built"));
            try (var nvml = FakeNvmlLibrary.start(home.resolve("built"), home.resolve("driver"), GPUS)) {
                Process daemon = start(command, nvml, kubelet, home);
                try {
                    new AotTrainingRun(kubelet).exercise(nvml);
                    if (daemon.waitFor(3, TimeUnit.SECONDS)) {
                        throw new IllegalStateException("the daemon exited with status " + daemon.exitValue());
                    }
                } finally {
                    // The cache is written at exit.
                    Processes.terminate(List.of(daemon.toHandle()), TIMEOUT);
                }
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
            DirectoryTrees.delete(sockets);
        }
    }

    private static Process start(List<String> command, FakeNvmlLibrary nvml, FakeKubelet kubelet, Path home)
            throws IOException {
        Files.createDirectories(home);
        var builder = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.to(home.resolve("training.log").toFile()));
        builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_"));
        builder.environment()
                .putAll(NvmlDaemonSettings.of(
                        nvml,
                        kubelet.devicePluginDirectory(),
                        kubelet.podResourcesSocket(),
                        home.resolve("daemon"),
                        KAFKA));
        builder.environment().put("GPUFLEET_HTTP_PORT", "0");
        return builder.start();
    }

    private void exercise(FakeNvmlLibrary nvml) throws InterruptedException {
        await("registration", gpus -> gpus.allocatable() == GPUS);
        try {
            for (int call = 0; call < CALLS; call++) {
                // GetPreferredAllocation of 4 in 8, then Allocate.
                kubelet.allocate("training", "half", "main", GPU, GPUS / 2);
                kubelet.release("training", "half");
                kubelet.allocate("training", "all", "main", GPU, GPUS);
                kubelet.release("training", "all");
            }
        } catch (AdmissionException refused) {
            throw new IllegalStateException("the daemon refused an allocation", refused);
        }
        nvml.xid(1, XID);
        await("withdrawal of a GPU", gpus -> gpus.allocatable() == GPUS - 1);
        kubelet.restart();
        await("registration after a restart", gpus -> gpus.connected() && gpus.capacity() == GPUS);
    }

    private void await(String event, Predicate<AdvertisedResource> condition) throws InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (kubelet.resource(GPU).filter(condition).isEmpty()) {
            if (!changes.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("no " + event + " within " + TIMEOUT.toSeconds() + " s");
            }
        }
    }
}
