package io.gpufleet.cli.fleet;

import io.gpufleet.testbed.kafka.BrokerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Starts the processes of a plan: broker and API server in parallel, then all others, and returns when all are ready.
 */
public final class FleetStarter {
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(120);
    private static final Executor EXECUTOR = Executors.newVirtualThreadPerTaskExecutor();

    /** Preparation of Kafka and Kubernetes, before the other processes start. */
    public interface FleetPrerequisites {
        /** Creates the topics. */
        void createTopics(String bootstrap);

        /** Creates the custom resource definitions, once the API answers; returns the address of the API. */
        String applyDefinitions(String kubeconfig);
    }

    private final FleetPlan plan;
    private final StateDirectory directory;
    private final ProcessLauncher launcher;
    private final FleetPrerequisites prerequisites;
    private final ConsoleProgress progress;
    private final RunningFleet fleet;
    private final CompletableFuture<Void> kafka = new CompletableFuture<>();

    /**
     * Writes the state file; nothing is started yet.
     *
     * @param kubernetes access to the API
     * @param supervisor the process that stops the fleet on Ctrl-C; null when it runs detached
     */
    public FleetStarter(
            FleetPlan plan,
            ProcessLauncher launcher,
            FleetPrerequisites preparations,
            ConsoleProgress progress,
            FleetState.KubernetesEndpoint kubernetes,
            @Nullable ProcessIdentity supervisor) {
        this.plan = plan;
        this.directory = launcher.directory();
        this.launcher = launcher;
        this.prerequisites = preparations;
        this.progress = progress;
        this.fleet = new RunningFleet(
                directory,
                new FleetState(
                        Instant.now().toString(),
                        0,
                        supervisor,
                        plan.bootstrap(),
                        kubernetes,
                        List.of(),
                        plan.nodes().stream().map(this::fleetNode).toList()));
    }

    /** Starts everything; after an error the started processes still run and are in the state file. */
    public RunningFleet start() {
        plan.nodes().forEach(this::createDirectories);
        CompletableFuture.runAsync(this::kafka, EXECUTOR).whenComplete((done, failure) -> {
            if (failure == null) {
                kafka.complete(null);
            } else {
                kafka.completeExceptionally(failure);
            }
        });
        CompletableFuture<Void> kubernetes = CompletableFuture.runAsync(this::kubernetes, EXECUTOR);
        CompletableFuture<Void> daemons =
                kubernetes.thenComposeAsync(done -> startAll(Program.FAKE_KUBELETS, Program.NODE_DAEMON), EXECUTOR);
        CompletableFuture<Void> services = CompletableFuture.allOf(kafka, kubernetes)
                .thenComposeAsync(done -> startAll(Program.INVENTORY, Program.HEALTH, Program.ALLOCATION), EXECUTOR);
        try {
            allOrFirstFailure(List.of(kafka, kubernetes, daemons, services)).join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
        }
        fleet.markReady(progress.seconds());
        return fleet;
    }

    /** Prevents further starts; called before the processes are stopped early. */
    public void cancel() {
        fleet.rejectNewProcesses();
        try {
            // The broker's process is not in the state file until it answers.
            kafka.handle((done, failure) -> true).get(READY_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException late) {
            progress.print(
                    "the broker neither started nor failed; find its process by its directory, " + directory.broker());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void createDirectories(String node) {
        try {
            Files.createDirectories(directory.node(node).resolve("faults"));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void kafka() {
        BrokerProcess broker = BrokerProcess.start(directory.broker(), plan.kafkaPort());
        fleet.add(new FleetState.FleetProcess(
                "kafka",
                RunningFleet.KAFKA,
                ProcessHandle.of(broker.pid()).map(ProcessIdentity::of).orElseThrow(),
                directory.broker().resolve("broker.out").toString(),
                List.of(),
                Map.of(),
                Map.of("kafka", plan.kafkaPort())));
        prerequisites.createTopics(plan.bootstrap());
        progress.printReady("kafka", plan.bootstrap());
    }

    private void kubernetes() {
        for (PlannedProcess process : plan.of(Program.FAKE_API_SERVER)) {
            ReadinessProbe.await(fleet.add(launcher.start(process)), READY_TIMEOUT);
        }
        String url = prerequisites.applyDefinitions(fleet.state().kubernetes().kubeconfig());
        progress.printReady("kubernetes", url);
    }

    private CompletableFuture<Void> startAll(Program... programs) {
        var waiting = new ArrayList<CompletableFuture<Void>>();
        for (Program program : programs) {
            for (PlannedProcess process : plan.of(program)) {
                FleetState.FleetProcess started = fleet.add(launcher.start(process));
                waiting.add(CompletableFuture.runAsync(
                        () -> {
                            ReadinessProbe.await(started, READY_TIMEOUT);
                            progress.printReady(process.name(), "http://" + process.httpAddress());
                        },
                        EXECUTOR));
            }
        }
        return allOrFirstFailure(waiting);
    }

    /** The first failure ends the wait for all. */
    private static CompletableFuture<Void> allOrFirstFailure(List<CompletableFuture<Void>> all) {
        var result = new CompletableFuture<Void>();
        all.forEach(each -> each.whenComplete((done, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            }
        }));
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenRun(() -> result.complete(null));
        return result;
    }

    private FleetState.FleetNode fleetNode(String node) {
        PlannedProcess daemon = plan.processes().stream()
                .filter(process -> process.name().equals(node))
                .findFirst()
                .orElseThrow();
        return new FleetState.FleetNode(
                node,
                plan.options().gpus(),
                plan.options().model(),
                directory.sockets().resolve(node).toString(),
                directory.node(node).resolve("faults").toString(),
                "http://" + daemon.httpAddress() + "/metrics");
    }
}
