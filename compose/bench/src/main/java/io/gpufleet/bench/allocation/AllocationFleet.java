package io.gpufleet.bench.allocation;

import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.PortAllocator;
import io.gpufleet.cli.fleet.PortClaims;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.util.List;

/** Kafka with the topics, a fake API server with our definitions, and the plan of two replicas of the allocation-service. */
final class AllocationFleet {
    /** For 100,000 pods, of which the fake API server takes some 10 KiB each. */
    private static final int API_MEBIBYTES = 4_096;

    /** A measurement on such a fleet. */
    interface Measured {
        void measure(AllocationFleet fleet) throws InterruptedException;
    }

    private final FleetPlan plan;
    private final ProcessLauncher launcher;
    private final BrokerProcess broker;
    private final KubernetesCluster cluster;

    private AllocationFleet(FleetPlan plan, ProcessLauncher launcher, BrokerProcess broker, KubernetesCluster cluster) {
        this.plan = plan;
        this.launcher = launcher;
        this.broker = broker;
        this.cluster = cluster;
    }

    /** Starts it in a directory of a checkout that is emptied first, measures, and stops it. */
    static void run(Path tree, String name, Measured measured) throws InterruptedException {
        var directory = new StateDirectory(tree.resolve(".gpufleet").resolve(name));
        directory.deleteAll();
        var launcher = new ProcessLauncher(tree, directory);
        try (var claims = new PortClaims()) {
            var plan = FleetPlan.of(
                    new FleetOptions(0, 8, "H100", 2, "", "1s"),
                    directory,
                    directory.kubeconfig().toString(),
                    "127.0.0.1",
                    new PortAllocator(claims::claim, _ -> {}));
            try (var broker = BrokerProcess.start(directory.broker(), plan.kafkaPort())) {
                TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
                try (var kubernetes = ServiceUnderLoad.start(
                        launcher, plan.of(Program.FAKE_API_SERVER).getFirst(), false, API_MEBIBYTES)) {
                    kubernetes.awaitReady();
                    try (KubernetesCluster cluster = KubernetesCluster.of(directory.kubeconfig())) {
                        cluster.applyFiles(tree.resolve("k8s/base/crds"));
                        measured.measure(new AllocationFleet(plan, launcher, broker, cluster));
                    }
                }
            }
        }
    }

    List<PlannedProcess> replicas() {
        return plan.of(Program.ALLOCATION);
    }

    ProcessLauncher launcher() {
        return launcher;
    }

    String bootstrap() {
        return broker.bootstrap();
    }

    KubernetesCluster cluster() {
        return cluster;
    }
}
