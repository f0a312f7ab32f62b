package io.gpufleet.bench.projection;

import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.PortAllocator;
import io.gpufleet.cli.fleet.PortClaims;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.ReadinessProbe;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A broker with the topics and the log of a fleet, and an API server, for services that are measured alone. */
final class ServiceEnvironment implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

    private final StateDirectory directory;
    private final PortClaims claims = new PortClaims();
    private final FleetPlan plan;
    private final ProcessLauncher launcher;
    private final BrokerProcess broker;
    private final FleetEvents events;
    private final FleetState.FleetProcess apiServer;

    private ServiceEnvironment(Path tree, StateDirectory directory, int nodes) {
        this.directory = directory;
        this.plan = FleetPlan.of(
                new FleetOptions(0, 8, "H100", 1, "", "1s"),
                directory,
                directory.kubeconfig().toString(),
                "127.0.0.1",
                new PortAllocator(claims::claim, _ -> {}));
        this.launcher = new ProcessLauncher(tree, directory);
        this.broker = BrokerProcess.start(directory.broker(), plan.kafkaPort());
        this.events = new FleetEvents(broker.bootstrap(), nodes);
        this.apiServer = launcher.start(plan.of(Program.FAKE_API_SERVER).getFirst());
    }

    /** Starts all of it in a directory of a checkout that is emptied first. */
    static ServiceEnvironment start(Path tree, String name, int nodes) throws InterruptedException {
        var directory = new StateDirectory(tree.resolve(".gpufleet").resolve(name));
        directory.deleteAll();
        var environment = new ServiceEnvironment(tree, directory, nodes);
        try {
            environment.awaitReady();
            return environment;
        } catch (RuntimeException | InterruptedException failed) {
            environment.close();
            throw failed;
        }
    }

    private void awaitReady() throws InterruptedException {
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        ReadinessProbe.await(apiServer, START_TIMEOUT);
    }

    /** Creates our definitions and our namespace at the API server. */
    void define(Path tree) {
        try (KubernetesCluster cluster = KubernetesCluster.of(directory.kubeconfig())) {
            cluster.ensureNamespace(FleetPlan.NAMESPACE);
            cluster.applyFiles(tree.resolve("k8s/base/crds"));
        }
    }

    String bootstrap() {
        return broker.bootstrap();
    }

    ProcessLauncher launcher() {
        return launcher;
    }

    /** The log of the fleet. */
    FleetEvents events() {
        return events;
    }

    /** How a program is started. */
    PlannedProcess planned(Program program) {
        return plan.of(program).getFirst();
    }

    @Override
    public void close() {
        events.close();
        broker.close();
        apiServer.identity().find().ifPresent(process -> Processes.terminate(List.of(process), STOP_TIMEOUT));
        claims.close();
    }
}
