package io.gpufleet.compose.fleet;

import io.gpufleet.compose.broker.BrokerProcess;
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

/** Starts what a plan says: broker and API side by side, then the rest at once, and returns when all are ready. */
public final class FleetStart {
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Executor BESIDE = Executors.newVirtualThreadPerTaskExecutor();

    /** What has to be done to Kafka and Kubernetes before the parts may start. */
    public interface Preparations {
        /** Creates the topics. */
        void topics(String bootstrap);

        /** Creates the custom resource definitions, once the API answers; returns the address of the API. */
        String definitions(String kubeconfig);
    }

    private final FleetPlan plan;
    private final StateDirectory directory;
    private final Launcher launcher;
    private final Preparations preparations;
    private final Progress progress;
    private final RunningFleet fleet;
    private final CompletableFuture<Void> kafka = new CompletableFuture<>();

    /**
     * Nothing is started yet, but the state file says who is about to.
     *
     * @param kubernetes how the API will be reached
     * @param supervisor who ends the fleet on Ctrl-C; null when it will run detached
     */
    public FleetStart(
            FleetPlan plan,
            Launcher launcher,
            Preparations preparations,
            Progress progress,
            FleetState.Kubernetes kubernetes,
            @Nullable Identity supervisor) {
        this.plan = plan;
        this.directory = launcher.directory();
        this.launcher = launcher;
        this.preparations = preparations;
        this.progress = progress;
        this.fleet = new RunningFleet(
                directory,
                new FleetState(
                        Instant.now().toString(),
                        0,
                        supervisor,
                        plan.bootstrap(),
                        kubernetes,
                        plan.options().gpus(),
                        plan.options().model(),
                        List.of(),
                        plan.nodes().stream().map(this::place).toList()));
    }

    /** Starts everything; on an error what was started still runs and stands in the state file. */
    public RunningFleet start() {
        plan.nodes().forEach(this::folders);
        CompletableFuture.runAsync(this::kafka, BESIDE).whenComplete((done, failure) -> {
            if (failure == null) {
                kafka.complete(null);
            } else {
                kafka.completeExceptionally(failure);
            }
        });
        CompletableFuture<Void> kubernetes = CompletableFuture.runAsync(this::kubernetes, BESIDE);
        CompletableFuture<Void> daemons =
                kubernetes.thenComposeAsync(done -> each(Program.KUBELETS, Program.NODE_DAEMON), BESIDE);
        CompletableFuture<Void> services = CompletableFuture.allOf(kafka, kubernetes)
                .thenComposeAsync(done -> each(Program.INVENTORY, Program.HEALTH, Program.ALLOCATION), BESIDE);
        try {
            allOrFirstFailure(List.of(kafka, kubernetes, daemons, services)).join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
        }
        fleet.ready(progress.seconds());
        return fleet;
    }

    /** To be called before the processes are ended early: nothing more appears after it returned. */
    public void noMore() {
        fleet.noMore();
        try {
            // The broker's process is known to nobody until it answers.
            kafka.handle((done, failure) -> true).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException late) {
            progress.say("the broker neither starts nor fails; look for it by its folder, " + directory.broker());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void folders(String node) {
        try {
            Files.createDirectories(directory.node(node).resolve("faults"));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void kafka() {
        BrokerProcess broker = BrokerProcess.start(directory.broker(), plan.kafkaPort());
        fleet.started(new FleetState.Started(
                "kafka",
                "KAFKA",
                ProcessHandle.of(broker.pid()).map(Identity::of).orElseThrow(),
                directory.broker().resolve("broker.out").toString(),
                List.of(),
                Map.of(),
                Map.of("kafka", plan.kafkaPort())));
        preparations.topics(plan.bootstrap());
        progress.ready("kafka", plan.bootstrap());
    }

    private void kubernetes() {
        for (Part part : plan.of(Program.KUBE_API)) {
            Readiness.await(fleet.started(launcher.start(part)), PATIENCE);
        }
        String url = preparations.definitions(fleet.state().kubernetes().kubeconfig());
        progress.ready("kubernetes", url);
    }

    private CompletableFuture<Void> each(Program... programs) {
        var waiting = new ArrayList<CompletableFuture<Void>>();
        for (Program program : programs) {
            for (Part part : plan.of(program)) {
                FleetState.Started started = fleet.started(launcher.start(part));
                waiting.add(CompletableFuture.runAsync(
                        () -> {
                            Readiness.await(started, PATIENCE);
                            progress.ready(part.name(), "http://" + part.httpAddress());
                        },
                        BESIDE));
            }
        }
        return allOrFirstFailure(waiting);
    }

    /** A failure ends the waiting at once; the others would only wait longer for what will not come. */
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

    private FleetState.NodePlace place(String node) {
        Part daemon = plan.parts().stream()
                .filter(part -> part.name().equals(node))
                .findFirst()
                .orElseThrow();
        return new FleetState.NodePlace(
                node,
                plan.options().gpus(),
                plan.options().model(),
                directory.sockets().resolve(node).toString(),
                directory.node(node).resolve("faults").toString(),
                "http://" + daemon.httpAddress() + "/metrics");
    }
}
