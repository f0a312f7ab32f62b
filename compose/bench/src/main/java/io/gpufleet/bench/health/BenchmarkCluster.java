package io.gpufleet.bench.health;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.ReadinessProbe;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The API server of a benchmark: a fake one that ends with it, or a cluster from which it deletes its Nodes. */
final class BenchmarkCluster implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);
    /** Node objects that have room in the heap that the API server of a local fleet has. */
    private static final int SMALL_HEAP_NODES = 10_000;

    private final KubernetesCluster cluster;
    private final BenchmarkNodes nodes;
    private final Runnable end;
    /** So that Ctrl-C leaves no Nodes behind either. */
    private final Thread interrupted;

    private BenchmarkCluster(KubernetesCluster cluster, BenchmarkNodes nodes, Runnable end) {
        this.cluster = cluster;
        this.nodes = nodes;
        this.end = end;
        this.interrupted = new Thread(end, "delete-nodes");
        Runtime.getRuntime().addShutdownHook(interrupted);
    }

    /** Starts the API server of the plan, or checks that the cluster of the options may be used. */
    static BenchmarkCluster start(ProcessLauncher launcher, FleetPlan plan, Path kubeconfig, HealthOptions options) {
        return options.usesFakeApiServer()
                ? fake(startFake(launcher, plan.of(Program.FAKE_API_SERVER).getFirst(), options.nodes()), kubeconfig)
                : existing(KubernetesCluster.of(kubeconfig), options.besideGpuNodes());
    }

    /** With the heap of a local fleet, or with that of a large service. */
    private static FleetState.FleetProcess startFake(ProcessLauncher launcher, PlannedProcess planned, int nodes) {
        return nodes <= SMALL_HEAP_NODES
                ? launcher.start(planned)
                : ServiceUnderLoad.start(launcher, planned).process();
    }

    private static BenchmarkCluster fake(FleetState.FleetProcess server, Path kubeconfig) {
        Runnable stop = () ->
                server.identity().find().ifPresent(process -> Processes.terminate(List.of(process), STOP_TIMEOUT));
        try {
            ReadinessProbe.await(server, START_TIMEOUT);
            KubernetesCluster cluster = KubernetesCluster.of(kubeconfig);
            return new BenchmarkCluster(cluster, new BenchmarkNodes(cluster.client(), false), stop);
        } catch (RuntimeException failed) {
            stop.run();
            throw failed;
        }
    }

    private static BenchmarkCluster existing(KubernetesCluster cluster, boolean besideGpuNodes) {
        var nodes = new BenchmarkNodes(cluster.client(), true);
        try {
            cluster.requireReachable();
            cluster.requireNotInstalled();
            if (!besideGpuNodes) {
                nodes.requireNoOthersWithGpus();
            }
        } catch (RuntimeException refused) {
            cluster.close();
            throw refused;
        }
        return new BenchmarkCluster(cluster, nodes, nodes::remove);
    }

    KubernetesClient client() {
        return cluster.client();
    }

    void createNodes(int count) throws InterruptedException {
        nodes.create(count);
    }

    @Override
    public void close() {
        end.run();
        Runtime.getRuntime().removeShutdownHook(interrupted);
        cluster.close();
    }
}
